// The module `_processor`: what this processor can do. It is imported before the kernels are loaded, so it is small, is
// compiled for any x86-64 processor, and uses the plain C interface of Python.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "base/processor.hpp"

namespace {

PyObject* py_runs_v3(PyObject*, PyObject*) { return PyBool_FromLong(amudai::runs_v3()); }

PyMethodDef functions[] = {
    {"runs_v3", py_runs_v3, METH_NOARGS, "Whether this processor and system can run x86-64-v3 code."},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef_Slot slots[] = {
#ifdef Py_GIL_DISABLED
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, nullptr},
};

PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_processor", "What this processor can do.", 0, functions, slots, nullptr, nullptr, nullptr,
};

}  // namespace

PyMODINIT_FUNC PyInit__processor() { return PyModuleDef_Init(&definition); }
