# SPDX-License-Identifier: BSD-3-Clause
"""The attributes of the synthetic cohort that the study's Table 1 says nothing about.

The study names the clinical conditions but prints no figures for them. The shares of women here are plausible for the
United States in the 1990s, and nobody's data. Neither the conditions nor the other attributes, which make the table as
wide as the study's, have any bearing on the outcome in this cohort, whatever they have in life: how much they would
have is not known, and a method that uses them is fitting noise.
"""

from __future__ import annotations

from typing import NamedTuple


class Condition(NamedTuple):
    """Two categories: `share` of the women have the second."""

    name: str
    share: float
    missing: float = 0.0
    levels: tuple[str, str] = ("no", "yes")


class Choice(NamedTuple):
    """One of several categories, each with its share."""

    name: str
    levels: tuple[str, ...]
    shares: tuple[float, ...]
    missing: float = 0.0


class Measurement(NamedTuple):
    """A normally distributed number, rounded to `step`."""

    name: str
    mean: float
    sd: float
    step: float = 1.0
    missing: float = 0.0


CONDITIONS = (
    Condition("heart_disease", 0.006),
    Condition("pulmonary_condition", 0.015),
    Condition("placenta_previa", 0.004),
    Condition("uterine_abnormality", 0.005),
    Condition("herpes", 0.012),
    Condition("preterm_labor", 0.06),
    Condition("abruptio_placentae", 0.011),
    Condition("chorioamnionitis", 0.035),
    Condition("fetal_distress", 0.075, missing=0.005),
    Condition("cord_prolapse", 0.003),
    Condition("meconium", 0.12, missing=0.01),
    Condition("membrane_rupture", 0.52, 0.03, ("spontaneous", "artificial")),
)

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")

CHOICES = (
    Choice("practice", tuple(f"practice {k}" for k in range(1, 18)), tuple(range(18, 1, -1))),
    Choice("delivery_month", MONTHS, (1,) * 12),
    Choice("delivery_day", DAYS, (16, 17, 16, 16, 16, 10, 9)),
    Choice("delivery_year", ("1995", "1996", "1997"), (1, 1, 1)),
    Choice(
        "education",
        ("none", "primary", "high school", "college", "graduate"),
        (1, 14, 38, 35, 12),
        missing=0.02,
    ),
    Choice("blood_group", ("O", "A", "B", "AB"), (45, 40, 11, 4), missing=0.01),
    Choice("clinic", ("private", "hospital", "community"), (65, 25, 10)),
    Choice("referred_by", ("self", "physician", "hospital", "other"), (55, 33, 7, 5), missing=0.04),
)

MEASUREMENTS = (
    Measurement("admission_weight", 172.0, 34.0, missing=0.06),  # pounds
    Measurement("height", 64.3, 2.6, missing=0.05),
    Measurement("weight_gain", 30.0, 12.0, missing=0.06),
    Measurement("prenatal_visits", 11.5, 3.3, missing=0.02),
    Measurement("first_visit_week", 11.0, 4.5, missing=0.03),
    Measurement("hemoglobin", 11.9, 1.1, step=0.1, missing=0.02),
    Measurement("platelets", 232.0, 56.0, missing=0.02),
    Measurement("glucose_screen", 112.0, 26.0, missing=0.08),
    Measurement("systolic_pressure", 117.0, 13.0, missing=0.01),
    Measurement("heart_rate", 84.0, 12.0, missing=0.01),
    Measurement("temperature", 98.3, 0.6, step=0.1, missing=0.01),
    Measurement("travel_minutes", 28.0, 11.0, missing=0.03),
)

# Present or not, with the share of women.
MARKS = {
    "allergy": 0.12,
    "alcohol_use": 0.03,
    "amniocentesis": 0.08,
    "anemia": 0.08,
    "breastfeeding_planned": 0.55,
    "cerclage": 0.004,
    "chlamydia": 0.03,
    "depression": 0.05,
    "drug_use": 0.03,
    "epilepsy": 0.005,
    "father_known": 0.95,
    "folic_acid": 0.35,
    "food_assistance": 0.30,
    "genital_warts": 0.02,
    "group_b_streptococcus": 0.18,
    "hepatitis_b": 0.004,
    "infertility_treatment": 0.02,
    "male_infant": 0.512,
    "migraine": 0.04,
    "previous_abortion": 0.20,
    "previous_miscarriage": 0.18,
    "renal_disease": 0.004,
    "rh_negative": 0.14,
    "rubella_immune": 0.90,
    "sickle_cell_trait": 0.015,
    "steroids": 0.02,
    "syphilis": 0.003,
    "thrombocytopenia": 0.005,
    "thyroid_disease": 0.02,
    "tocolysis": 0.03,
    "transferred": 0.04,
    "ultrasound": 0.85,
    "urinary_infection": 0.07,
    "varicose_veins": 0.01,
}
MARKS_MISSING = {"group_b_streptococcus": 0.05, "hepatitis_b": 0.02, "rubella_immune": 0.02}
