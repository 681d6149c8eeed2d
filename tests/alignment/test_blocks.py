"""A window solved again against the whole film: posteriors, and the best path of the chain."""

import numpy as np
import pytest

from folioreel.alignment.blocks import ChainBlocks, PositionBlocks
from folioreel.alignment.decode import decode_chain
from folioreel.alignment.marginals import chain_marginals
from folioreel.alignment.positions import Fixed, follow_book
from folioreel.config import ChainConfig, StepsConfig
from folioreel.models.chain import ABSENT, judge_chain, make_chain


@pytest.mark.parametrize("elsewhere", [0.0, 0.1])
@pytest.mark.parametrize("moments", [1, 15, 16, 17, 33])
def test_positions_of_any_film(moments, elsewhere, rng):
    scores = rng.normal(-3, 3, (moments, 9)).astype(np.float32)
    times = np.linspace(0, 1, moments, dtype=np.float32)
    steps = StepsConfig(elsewhere=elsewhere, timeline=0.5)
    here = np.arange(9) == 4
    blocks = PositionBlocks(scores, times, steps)
    for known in (
        Fixed(sentences=here, rendered=True),
        Fixed(sentences=here, rendered=None),
        Fixed(sentences=None, rendered=False),
        None,
    ):
        solved = blocks.fix(moments // 2, known)
        whole = follow_book(scores, times, steps, known and {moments // 2: known})
        for rows in solved:
            part = slice(rows.first, rows.first + len(rows.rendered))
            assert np.allclose(rows.rendered, whole.rendered[part], rtol=2e-3, atol=1e-6)
            assert np.allclose(rows.position, whole.position[part], rtol=2e-3, atol=1e-6)


@pytest.mark.parametrize("moments", [1, 15, 16, 17, 33, 90])
def test_the_chain_of_any_film(moments, rng):
    scores = rng.normal(-3, 3, (moments, 9)).astype(np.float32)
    config = ChainConfig(unary=0.5, pace=1.0, stay=1.0, sigma=0.1)
    chain = make_chain(scores, np.full(moments - 1, 1 / moments), config)
    judged: dict[int, int] = {0: 2}
    blocks = ChainBlocks(chain, judged)
    path = decode_chain(judge_chain(chain, judged)).sentences
    probability = chain_marginals(judge_chain(chain, judged)).probability
    for moment, sentence in ((moments // 2, 4), (moments - 1, ABSENT), (moments // 2, None)):
        if sentence is None:
            judged.pop(moment, None)
        else:
            judged[moment] = sentence
        for rows in blocks.fix(moment, sentence):
            part = slice(rows.first, rows.first + len(rows.path))
            path[part], probability[part] = rows.path, rows.probability
        whole = judge_chain(chain, judged)
        # With the rows that were not solved again as they were.
        assert path.tolist() == decode_chain(whole).sentences.tolist()
        expected = chain_marginals(whole).probability
        assert np.allclose(probability, expected, rtol=5e-3, atol=1e-6)
