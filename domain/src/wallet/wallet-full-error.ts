/** The projection is far behind: what is held is not counted yet. */
export class WalletFullError extends Error {
  override readonly name = 'WalletFullError'

  constructor() {
    super('Credits of too many records are held in this wallet')
  }
}
