// Sample 1 of SeveralHosts.md
