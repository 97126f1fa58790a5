/** A sealed secret cannot be decrypted. The message contains nothing of the secret. */
export class SecretUnreadableError extends Error {
  override readonly name = 'SecretUnreadableError'

  constructor(reason: string) {
    super(`a sealed secret cannot be read: ${reason}`)
  }
}

/** A secret was to be stored or read, but no keys are configured. */
export class SecretKeysMissingError extends Error {
  override readonly name = 'SecretKeysMissingError'

  constructor() {
    super('TOLLGATE_SECRET_KEYS is not set')
  }
}
