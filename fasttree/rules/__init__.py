# SPDX-License-Identifier: BSD-3-Clause
"""IF-THEN rules: from the paths of a tree, pruned, and in an order in which they classify."""

from fasttree.rules.held_out import HeldOut, HeldOutRows
from fasttree.rules.paths import rules_of
from fasttree.rules.rule import Condition, Rule, Substitute
from fasttree.rules.rule_list import RuleList

__all__ = ["Condition", "HeldOut", "HeldOutRows", "Rule", "RuleList", "Substitute", "rules_of"]
