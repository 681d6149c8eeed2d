"""Words that are pictures: bitmap subtitles, and subtitles burned into the film."""
