"""What captions are made of: words that count, and how captions sound.

Both lists are English, as the captioner is.
"""

from __future__ import annotations

from collections import Counter

from folioreel.text import tokenize

STOP_WORDS = frozenset(
    """
    a an the this that these those some any no each every all both either neither such own same
    i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his
    himself she her hers herself it its itself they them their theirs themselves one's oneself
    who whom whose which what when where why how whoever whatever
    am is are was were be been being have has had having do does did doing done can could may
    might must shall should will would ought
    i'm i've i'd i'll you're you've you'd you'll he's he'd he'll she's she'd she'll it's it'd it'll
    we're we've we'd we'll they're they've they'd they'll that's there's here's what's who's let's
    isn't aren't wasn't weren't hasn't haven't hadn't don't doesn't didn't can't cannot couldn't
    mustn't needn't shan't shouldn't won't wouldn't
    and but or nor if than then so because as until while though although since unless whether
    of at by for with without about against between among into onto through during before after
    above below under over to toward towards from up upon down in out on off near around across
    along behind beside beyond within again further once there here also too very just only even
    still yet ever never not more most much many other another few less least else quite rather
    """.split()
)


def unigram_precision(caption: str, sentence: str) -> float:
    """The share of a caption's words that a sentence has, stop words left out of both.

    As in BLEU, what was written by machine is judged by what people wrote, and a word counts at
    most as often as the sentence has it. 0 for a caption of stop words alone.
    """
    words = Counter(_telling_words(caption))
    shared = words & Counter(_telling_words(sentence))
    return shared.total() / max(1, words.total())


def _telling_words(text: str) -> list[str]:
    return [word for word in tokenize(text) if word not in STOP_WORDS]


PLAIN_CAPTIONS = (
    "A man is riding a bicycle down the street.",
    "Two dogs are playing with a ball in the grass.",
    "A little girl in a pink dress is smiling at the camera.",
    "A group of people are standing in front of a building.",
    "A woman is sitting on a bench and reading a newspaper.",
    "A boy in a red shirt jumps into the swimming pool.",
    "A brown dog runs through the snow.",
    "Children are playing in the water at the beach.",
    "A man in a blue jacket climbs a steep rock.",
    "A football player in a white uniform kicks the ball.",
    "Two women are talking at a table in a restaurant.",
    "A black cat sleeps on a couch.",
    "A baby in a yellow hat is eating cake.",
    "A crowd of people is watching a parade.",
    "A bird is flying over the lake.",
    "A man wearing a helmet is riding a motorcycle on a dirt track.",
    "A young couple walks along a path in the park.",
    "A street with parked cars and tall buildings.",
    "A horse is standing in a field behind a fence.",
    "A kitchen with a stove, a sink and a window.",
    "A train is waiting at the station.",
    "An old man with a beard is playing the guitar.",
    "A girl is sliding down a slide on the playground.",
    "A plate of food is on a wooden table.",
    "A boat is sailing on the sea near the shore.",
    "Three boys are sitting on the steps of a house.",
    "A person is skiing down a hill covered with snow.",
    "A white dog catches a frisbee in the air.",
    "A woman in a black coat is crossing the street.",
    "A bedroom with a bed, a lamp and a chair.",
    "A surfer is riding a large wave.",
    "A man and a child are fishing from a pier.",
    "A woman is holding an umbrella in the rain.",
    "A skateboarder is doing a trick on a ramp.",
    "A small boat is tied to a dock.",
    "People are sitting around a fire at night.",
    "A man is standing on top of a mountain and looking at the view.",
    "A bus is driving down a busy road.",
    "A girl with long hair is writing in a notebook.",
    "A clock tower rises above the roofs of the town.",
)
"""Captions as people write them under photographs, made up for their tone."""
