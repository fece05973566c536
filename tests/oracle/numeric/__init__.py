"""One file per encoding of fixed-size values, each with its code, its types, `decode` and `encode`."""
