"""Charts as inline SVG text: themed by CSS classes, valid XML, no scripts, no external references.

Bars place everything in per cent, so they stretch with the page while strokes and text keep their size;
panels of small multiples have a fixed view box and a common scale.
"""
