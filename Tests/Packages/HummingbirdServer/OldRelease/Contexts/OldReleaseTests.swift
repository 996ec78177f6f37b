// Sample 8 of SeveralHosts.md
