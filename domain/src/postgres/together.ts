/**
 * What a transaction can do without waiting for one answer after the other: the statements go to the server together, each
 * write to a socket costing more than most of them. They are done in the order in which they are asked for. Throws once
 * all have ended, so that none of them goes on behind the transaction's rollback.
 */
export async function together<const Asked extends readonly unknown[]>(
  asked: Asked,
): Promise<{ -readonly [Index in keyof Asked]: Awaited<Asked[Index]> }> {
  const settled = await Promise.allSettled(asked)
  for (const each of settled) if (each.status === 'rejected') throw each.reason
  return settled.map((each) => (each as PromiseFulfilledResult<unknown>).value) as never
}
