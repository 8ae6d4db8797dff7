from perfd.site.templates import prose, short


def test_prose_shows_ticked_words_as_code_and_escapes_the_rest() -> None:
    assert "run <code>perfd doctor</code> &amp; look" == prose("run `perfd doctor` & look")
    assert "<code>&lt;b&gt;</code> &lt;script&gt;" == prose("`<b>` <script>")
    assert "`" == prose("`")


def test_long_text_is_cut_on_one_line() -> None:
    assert "a b" == short(" a \n b ")
    assert "aaaa…" == short("a" * 100_000, 5)
