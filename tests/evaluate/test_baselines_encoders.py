"""The simple encoders read words that they do not know as their model does."""

from dataclasses import replace

import numpy as np
import pytest

from folioreel.evaluate.baselines import MeanWordsEncoder, UntrainedEncoder

pytest.importorskip("torch")  # the made encoder is written with it

from made_encoders import made_model


@pytest.mark.parametrize("back_off", [False, True])
def test_unknown_words_follow_the_model(back_off):
    """`boats` is unknown in any form; `rivers` is `river` where the model backs off."""
    encoder = MeanWordsEncoder(replace(made_model(), back_off=back_off))
    river, rivers, boats, both = encoder.encode(["river", "rivers", "boats", "the rivers"])
    assert river.any()
    assert not boats.any()
    assert np.array_equal(rivers, river) is back_off
    assert rivers.any() is np.bool_(back_off)
    (the,) = encoder.encode(["the"])
    assert both == pytest.approx((the + river) / 2 if back_off else the)


def test_the_untrained_encoder_reads_as_it_is_told():
    for back_off in (False, True):
        encoder = UntrainedEncoder(replace(made_model(), back_off=back_off))
        river, rivers, boats = encoder.encode(["river", "rivers", "boats"])
        assert np.array_equal(rivers, river if back_off else boats)
        assert not np.array_equal(river, boats)
