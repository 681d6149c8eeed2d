"""Book formats → blocks: headings, paragraphs, verse, each with its place in the file."""
