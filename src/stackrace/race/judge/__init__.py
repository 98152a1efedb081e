"""Judgement of a race: decisions, standing, answer."""
