"""The report of a week as a letter: its Markdown as the text, and a figure of each Series of the largest Changes."""

from perfd.domain.notice import Figure, Letter
from perfd.site import weekly
from perfd.site.exports import picture
from perfd.site.site import Site
from perfd.site.weekly import Week
from perfd.store.pages import Window


def letter(site: Site, week: Week) -> Letter:
    """The letter, as the report stands now."""
    report = weekly.told(site, week)
    figures = tuple(Figure(f"{week.name}-series-{one}.png", picture(site, [one], Window())) for one in report["drawn"])
    text = weekly.markdown(report)
    if figures:
        many = f"The Series of the largest Changes are drawn in the {len(figures)} figures of this letter"
        text += f"\n{many if len(figures) > 1 else 'The Series of the largest Change is drawn in the figure of this letter'}.\n"
    if site.address:
        text += f"\n{site.address}/report?week={week.name}\n"
    return Letter(f"weekly:{week.name}", f"week {week.name}: {report['sentence']}", text, figures)
