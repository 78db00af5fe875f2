# SPDX-License-Identifier: BSD-3-Clause
"""How the page looks: light and dark, on a phone, on a desk and on paper. Nothing is loaded from anywhere."""

from __future__ import annotations

from fasttree.draw.svg import STYLE as TREE_STYLE

_LIGHT = """
--page:#ffffff;--panel:#f4f6f9;--ink:#17202a;--soft:#4d5966;--rule:#d5dbe2;--accent:#005a94;--link:#005a94;
--notice:#fff4de;--notice-ink:#553b00;--first:#b54a00;--second:#0068a5;--frame:#8b96a3
"""
_DARK = """
--page:#12171d;--panel:#1b222a;--ink:#e8edf2;--soft:#b3bdc8;--rule:#36414c;--accent:#7cc0f2;--link:#8ac8f5;
--notice:#38300f;--notice-ink:#ffe2a3;--first:#f5934d;--second:#62b7f0;--frame:#77838f
"""

STYLE = (
    f"""
:root{{color-scheme:light dark;{_LIGHT}}}
@media (prefers-color-scheme:dark){{:root{{{_DARK}}}}}
@media print{{:root{{color-scheme:light;{_LIGHT}}}}}
"""
    """
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--page);color:var(--ink);font:16px/1.6 system-ui,-apple-system,"Segoe UI",Roboto,
 "Helvetica Neue",Arial,sans-serif;overflow-wrap:break-word}
header,main,footer{max-width:74rem;margin:0 auto;padding:0 1.25rem}
header{padding-top:2.5rem}
h1{font-size:clamp(1.55rem,1.1rem + 2.2vw,2.3rem);line-height:1.18;margin:0 0 .5rem;letter-spacing:-.015em;
 text-wrap:balance}
h2{font-size:1.55rem;line-height:1.25;margin:3.2rem 0 .8rem;padding-top:1.4rem;border-top:2px solid var(--rule);
 letter-spacing:-.01em}
h3{font-size:1.18rem;line-height:1.3;margin:2.2rem 0 .5rem}
p,ul,dl{max-width:46rem;margin:.6rem 0}
ul{padding-left:1.2rem}
li{margin:.35rem 0}
li strong{font-weight:650}
a{color:var(--link)}
.subtitle{color:var(--soft);font-size:1.05rem;margin:0}
.notice{background:var(--notice);color:var(--notice-ink);border-radius:8px;padding:.7rem 1rem;margin:1.1rem 0;
 border-left:5px solid currentColor}
nav ul{list-style:none;padding:0;margin:1.2rem 0 0;display:flex;flex-wrap:wrap;gap:.3rem 1.1rem;max-width:none}
nav li{margin:0}
nav a{display:inline-block;padding:.25rem 0}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(13.5rem,1fr));gap:.8rem;margin:.8rem 0 1rem;padding:0;
 max-width:none}
.cards div{background:var(--panel);border-radius:10px;padding:.8rem 1rem}
.cards dt{color:var(--soft);font-size:.9rem}
.cards dd{margin:0}
.cards .value{font-size:1.65rem;font-weight:650;line-height:1.3;font-variant-numeric:tabular-nums}
.cards .note{color:var(--soft);font-size:.9rem}
.scroll{overflow-x:auto;margin:1rem 0;max-width:100%;border-radius:4px}
.scroll:focus-visible,summary:focus-visible,a:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
table{border-collapse:collapse;font-size:.92rem;line-height:1.4;font-variant-numeric:tabular-nums}
caption{text-align:left;font-weight:650;padding:0 0 .4rem}
th,td{padding:.32rem .8rem .32rem 0;text-align:right;vertical-align:top;white-space:nowrap}
th:last-child,td:last-child{padding-right:.3rem}
thead th{border-bottom:2px solid var(--rule);font-weight:600;color:var(--soft);vertical-align:bottom}
tbody tr{border-bottom:1px solid var(--rule)}
tbody th{font-weight:500;white-space:normal;max-width:20rem}
tr.lead th,.sub{min-width:min(9rem,32vw)}
.left{text-align:left}
td.left{white-space:normal;min-width:min(20rem,60vw);max-width:34rem}
.sub{padding-left:1.1rem}
tr.lead th{font-weight:650}
tr.lead th,tr.lead td{padding-top:.7rem}
.under{color:var(--soft);font-size:.9rem;margin:.2rem 0 1.2rem}
figure{margin:1.2rem 0}
figcaption{color:var(--soft);font-size:.9rem;max-width:46rem;margin-top:.5rem}
figcaption strong{color:var(--ink);font-weight:650}
.one svg{display:block;width:100%;max-width:27rem;height:auto}
.panels{display:grid;grid-template-columns:repeat(auto-fill,minmax(9.6rem,1fr));gap:.6rem .8rem}
.panels svg{display:block;width:100%;max-width:15rem;height:auto}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(21rem,100%),1fr));gap:0 2rem}
.pair>figure{min-width:0}
.tree{overflow-x:auto;width:min(100vw - 3rem,92rem);
 margin-left:calc(50% - min(50vw - 1.5rem,46rem));border:1px solid var(--rule);border-radius:8px;
 padding:.5rem;background:var(--page)}
.tree svg{display:block}
details{margin:.7rem 0;border-left:3px solid var(--rule);padding-left:.9rem}
summary{cursor:pointer;color:var(--link);padding:.2rem 0}
pre{overflow-x:auto;background:var(--panel);border-radius:8px;padding:.8rem 1rem;font-size:.82rem;line-height:1.45}
footer{margin-top:3rem;padding-top:1rem;padding-bottom:2.5rem;color:var(--soft);font-size:.9rem}
.chart{font-family:inherit}
.chart text{fill:var(--soft);font-size:11.5px;font-variant-numeric:tabular-nums}
.chart text.strong{fill:var(--ink);font-weight:650;font-size:12.5px}
.chart text{paint-order:stroke;stroke:var(--page);stroke-width:3px;stroke-linejoin:round}
.chart .frame{fill:none;stroke:var(--frame)}
.chart path{fill:none;stroke-width:2;stroke-linejoin:round}
.chart .diagonal{stroke:var(--frame);stroke-width:1;stroke-dasharray:2 4}
.chart .axis{stroke:var(--frame);stroke-width:1}
.chart .leader{stroke:var(--soft);stroke-width:1}
.chart .first{stroke:var(--first)}
.chart .second{stroke:var(--second);stroke-dasharray:7 3}
.chart .reference{stroke:var(--second);stroke-width:1.4;stroke-dasharray:4 3}
.chart .band{stroke:none;opacity:.22}
.chart .band.first{fill:var(--first)}
.chart .band.second{fill:var(--second)}
.chart circle.first,.chart rect.first{fill:var(--first);stroke:none}
.chart circle.second{fill:var(--second);stroke:none}
.chart .limits{stroke:var(--soft);stroke-width:1.5}
.chart .arrow{fill:var(--soft);stroke:none}
@media print{
 body{font-size:10.5pt}
 header,main,footer{max-width:none;padding:0}
 h2{break-before:page}h2:first-of-type{break-before:auto}
 h2,h3,caption{break-after:avoid}
 figure,.cards div,tr{break-inside:avoid}
 .scroll,.tree,pre{overflow:visible}
 td.left{max-width:none}
 .tree{width:auto;margin:0}
 .tree{border:0}.tree svg{max-width:100%;height:auto}
 nav,summary{display:none}
}
""" + TREE_STYLE
)
