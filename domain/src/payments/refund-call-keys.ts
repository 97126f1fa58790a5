/* Idempotency keys of the calls for a requested refund. The processor forgets a key after a day, and a later call needs another one. */

export function firstCallKey(reference: string): string {
  return `${reference}:refund:1`
}

export function callKeyAfter(key: string): string {
  const at = key.lastIndexOf(':') + 1
  return `${key.slice(0, at)}${Number(key.slice(at)) + 1}`
}
