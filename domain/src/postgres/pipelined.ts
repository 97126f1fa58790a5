/**
 * Awaits statements of a transaction that are sent to the server together, because each write to a socket costs more than most
 * statements. The server runs them in the order in which they were sent. Throws only after all have ended, so that none continues
 * after the transaction's rollback.
 */
export async function pipelined<const Asked extends readonly unknown[]>(
  statements: Asked,
): Promise<{ -readonly [Index in keyof Asked]: Awaited<Asked[Index]> }> {
  const settled = await Promise.allSettled(statements)
  for (const each of settled) if (each.status === 'rejected') throw each.reason
  return settled.map((each) => (each as PromiseFulfilledResult<unknown>).value) as never
}
