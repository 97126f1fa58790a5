export type Closable = { close(): Promise<void> }

/** Parts with a `close` that closes what was opened for them, and nothing that was passed in. */
export type Opened<Parts> = Parts & Closable

/** Opens a part, or takes it as opened, and remembers to close it. */
export type Own = <Part extends Closable>(part: Part | Promise<Part>) => Promise<Part>

/**
 * Opens the parts of a service. `close` closes what `own` was given, the last first, and nothing else; when one part
 * cannot be opened, those before it are closed and the reason is thrown.
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
