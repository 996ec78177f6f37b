// Sample 2 of SeveralHosts.md
