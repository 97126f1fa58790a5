/** Something that the request needs cannot be had now; nothing of it was kept, and the client should try again. */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError'
}
