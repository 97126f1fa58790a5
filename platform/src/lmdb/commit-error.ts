/**
 * A commit that fails rejects with an error that carries the reason as a second promise, which ends the process when
 * nobody listens to it. So every write goes through here.
 */
export async function committed<Result>(write: Promise<Result>): Promise<Result> {
  try {
    return await write
  } catch (error) {
    const { commitError } = error as { commitError?: Promise<never> }
    if (commitError === undefined) throw error
    const reason: unknown = await commitError.catch((each: unknown) => each)
    const text = reason instanceof Error ? reason.message : String(reason)
    throw new Error(`The disk did not take a transaction: ${text}.`, { cause: error })
  }
}
