// Sample 7 of SeveralHosts.md
