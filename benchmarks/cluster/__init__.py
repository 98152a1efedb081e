"""What races on a cluster promise, seen on network namespaces that stand for machines."""
