/** The wallet has too many holds, because the projection is far behind and has not counted the held records yet. */
export class WalletFullError extends Error {
  override readonly name = 'WalletFullError'

  constructor() {
    super('Credits of too many records are held in this wallet')
  }
}
