package amudai.spark;

import java.util.Map;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.SupportsPushDownRequiredColumns;
import org.apache.spark.sql.execution.datasources.v2.python.PythonDataSourceV2;
import org.apache.spark.sql.execution.datasources.v2.python.PythonScan;
import org.apache.spark.sql.execution.datasources.v2.python.PythonTable;
import org.apache.spark.sql.sources.Filter;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** The Python source "amudai" with what Spark does not offer to Python sources: it learns which columns are needed. */
public final class AmudaiSource extends PythonDataSourceV2 {
    private static final String PYTHON_NAME = "amudai";
    private boolean isNamed;

    /** Spark passes the name of this class, but the source in Python has another name. It can be set only once. */
    @Override
    public void setShortName(String name) {
        if (!isNamed) {
            isNamed = true;
            super.setShortName(PYTHON_NAME);
        }
    }

    @Override
    public Table getTable(StructType schema, Transform[] partitioning, Map<String, String> properties) {
        return new PythonTable(this, PYTHON_NAME, schema) {
            @Override
            public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
                return new Pruning(schema, options);
            }
        };
    }

    private static final class Pruning implements SupportsPushDownRequiredColumns {
        private final CaseInsensitiveStringMap options;
        private StructType columns;

        Pruning(StructType columns, CaseInsensitiveStringMap options) {
            this.columns = columns;
            this.options = options;
        }

        /** A batch without columns would have no rows either, so counting rows reads one column. */
        @Override
        public void pruneColumns(StructType required) {
            columns = required.isEmpty() ? new StructType(new StructField[] {columns.apply(0)}) : required;
        }

        /** A source of its own for each scan: a source keeps the tasks of its first scan. */
        @Override
        public Scan build() {
            var source = new AmudaiSource();
            source.setShortName(PYTHON_NAME);
            return new PythonScan(source, PYTHON_NAME, columns, options, new Filter[0]);
        }
    }
}
