/** Returns the earlier of two expiries. Null means that the key does not expire. */
export function earlierExpiry(one: Date | null, other: Date | null): Date | null {
  if (one === null || other === null) return one ?? other
  return one < other ? one : other
}
