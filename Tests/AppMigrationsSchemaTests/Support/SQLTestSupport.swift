@_exported import SQLTestSupport
