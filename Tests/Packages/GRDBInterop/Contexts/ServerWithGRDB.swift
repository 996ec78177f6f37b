// Sample 1 of AServerWithGRDB.md

// Sample 2 of AServerWithGRDB.md
