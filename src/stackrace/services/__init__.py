"""What an app needs beside it: one folder per service, the same file in each."""

from .catalogue import services
from .contract import DATA, Network, Service, ServiceRecipe

__all__ = ["DATA", "Network", "Service", "ServiceRecipe", "services"]
