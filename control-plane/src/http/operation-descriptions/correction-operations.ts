/** Descriptions of the operations of corrections of usage. */
export const correctionOperations: Readonly<Record<string, string>> = {
  correctUsage:
    'Takes recorded usage away, or gives it another value. The correction names one record, or all records that match a filter, of the last 13 months. Recorded usage stays as it is: signed records are appended, which limits, wallets and bills add up with it. A billed period has a line or a credit on the next invoice. With `dryRun`, nothing is changed, and the answer lists the periods with the amounts. A correction that is not applied within a few seconds is answered with the status `requested` or `applying` and continued. Send an `idempotencyKey` or the header `Idempotency-Key` to repeat the request safely.',
  correctUsageInBatch:
    'Stores up to 100 corrections, all or none. They are applied in their order. A dry run looks at each of them on its own.',
  listUsageCorrections: 'Returns the corrections, newest first, without what they have changed.',
  getUsageCorrection:
    'Returns a correction with its progress, and the largest of its changes by customer, product and meter.',
}
