/** A sealed secret that does not open. Says nothing of what is in it. */
export class SecretUnreadableError extends Error {
  override readonly name = 'SecretUnreadableError'

  constructor(reason: string) {
    super(`a sealed secret cannot be read: ${reason}`)
  }
}

/** Secrets were to be kept or read, and nobody has said with which keys. */
export class SecretKeysMissingError extends Error {
  override readonly name = 'SecretKeysMissingError'

  constructor() {
    super('TOLLGATE_SECRET_KEYS is not set')
  }
}
