"""The first tables: races, what their stacks were, launches, slices."""

from __future__ import annotations

from typing import ClassVar

from django.db import migrations, models

from stackrace.store.fields import DocumentField, ExactTextField, RealField


class Migration(migrations.Migration):
    """Made by Django's makemigrations; the names of its fields are part of every store."""

    initial = True

    dependencies: ClassVar[list[tuple[str, str]]] = []

    operations: ClassVar[list[object]] = [
        migrations.CreateModel(
            name="RaceRow",
            fields=[
                ("id", models.CharField(max_length=32, primary_key=True, serialize=False)),
                ("started_at", ExactTextField()),
                ("version", ExactTextField()),
                ("app", ExactTextField()),
                ("urls", DocumentField()),
                ("stacks", DocumentField()),
                ("loads", DocumentField()),
                ("question", ExactTextField()),
                ("difference", RealField()),
                ("budget_s", RealField()),
                ("cores", DocumentField()),
                ("seed", ExactTextField()),
                ("host", DocumentField()),
                ("notes", DocumentField()),
                ("elapsed_s", RealField()),
                ("ending", ExactTextField(null=True)),
            ],
            options={
                "db_table": "stackrace_race",
            },
        ),
        migrations.CreateModel(
            name="LaunchRow",
            fields=[
                ("id", models.CharField(max_length=32, primary_key=True, serialize=False)),
                ("position", models.IntegerField()),
                ("block", models.IntegerField()),
                ("stack", ExactTextField()),
                ("ready_s", models.FloatField(null=True)),
                ("warmup_s", RealField()),
                ("memory", DocumentField()),
                ("failure_kind", ExactTextField(null=True)),
                ("failure_message", ExactTextField(null=True)),
                ("failure_log", ExactTextField(null=True)),
                (
                    "race",
                    models.ForeignKey(on_delete=models.PROTECT, related_name="launches", to="stackrace.racerow"),
                ),
            ],
            options={
                "db_table": "stackrace_launch",
            },
        ),
        migrations.CreateModel(
            name="SliceRow",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("index", models.BigIntegerField()),
                ("load", DocumentField()),
                ("started_at", RealField()),
                ("duration_s", RealField()),
                ("counts", DocumentField()),
                ("latency", DocumentField()),
                ("connect", DocumentField()),
                ("histogram", models.BinaryField()),
                ("series", DocumentField()),
                ("status_classes", DocumentField()),
                ("bytes_read", models.BigIntegerField()),
                ("connections_opened", models.BigIntegerField()),
                ("reconnects", models.BigIntegerField()),
                ("established_peak", models.BigIntegerField()),
                ("generator_cpu_s", RealField()),
                ("generator_wait_s", RealField()),
                ("generator_busy", RealField()),
                ("fairness", RealField()),
                ("dead_time", RealField()),
                ("usage", DocumentField()),
                ("findings", DocumentField()),
                (
                    "launch",
                    models.ForeignKey(on_delete=models.PROTECT, related_name="slices", to="stackrace.launchrow"),
                ),
            ],
            options={
                "db_table": "stackrace_slice",
            },
        ),
        migrations.CreateModel(
            name="StackFactsRow",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("stack", ExactTextField()),
                ("versions", DocumentField()),
                ("configs", DocumentField()),
                ("commands", DocumentField()),
                (
                    "race",
                    models.ForeignKey(on_delete=models.PROTECT, related_name="facts", to="stackrace.racerow"),
                ),
            ],
            options={
                "db_table": "stackrace_stack_facts",
            },
        ),
        migrations.AddConstraint(
            model_name="launchrow",
            constraint=models.UniqueConstraint(fields=("race", "position"), name="stackrace_launch_order"),
        ),
    ]
