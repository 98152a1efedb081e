"""What a race needs of this machine, brought to hosts that do not have it: the project, its environment, its data.

The coordinator packs parcels; a host takes those that it lacks, unpacks them below a folder of its own cache under
the paths that they have here, and races from there. What comes back names the user's own paths again.
"""
