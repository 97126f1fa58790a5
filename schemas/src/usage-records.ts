/**
 * Value of the column `log_offset` for a usage record that was moved here from another installation and was never in this log. No
 * log reaches this offset, so no record of this log has it.
 */
export const offsetOfNoLog = 2 ** 48 - 1
