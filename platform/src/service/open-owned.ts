export type Closable = { close(): Promise<void> }

/** Parts with a `close` that closes the parts which were opened for them, and none that was passed in. */
export type Opened<Parts> = Parts & Closable

/** Waits for a part to open, and remembers to close it. */
export type Own = <Part extends Closable>(part: Part | Promise<Part>) => Promise<Part>

/**
 * Opens the parts of a service. `close` closes the parts that `own` was given, the last one first. If one part cannot be opened,
 * the parts before it are closed and the reason is thrown.
 */
export async function openOwned<Parts>(open: (own: Own) => Promise<Parts>): Promise<Opened<Parts>> {
  const opened: Closable[] = []
  const own: Own = async (part) => {
    opened.push(await part)
    return await part
  }
  const close = async (): Promise<void> => {
    for (let part = opened.pop(); part !== undefined; part = opened.pop()) await part.close()
  }
  try {
    return { ...(await open(own)), close }
  } catch (error) {
    await close()
    throw error
  }
}
