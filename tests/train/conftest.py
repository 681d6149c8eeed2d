"""Small networks train fastest on one core, and much faster where others use the rest."""

import pytest
import torch


@pytest.fixture(autouse=True, scope="session")
def _one_thread():
    torch.set_num_threads(1)
