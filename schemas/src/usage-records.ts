/**
 * What the column `log_offset` of a usage record says when the record was moved here from another installation: it was
 * in a log, but not in this one. No log comes so far, so no record of this one is mistaken for it.
 */
export const offsetOfNoLog = 2 ** 48 - 1
