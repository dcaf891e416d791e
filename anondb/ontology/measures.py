"""The measures of the similarity of concepts that a policy can name: each is a function similarity_<measure> in SQL."""

MEASURES = ("wup", "wup_depth", "path", "lch", "shared")
