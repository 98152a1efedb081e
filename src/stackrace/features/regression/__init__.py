"""From "is this slower?" to two deployments side by side: revisions, work trees, environments, sides."""
