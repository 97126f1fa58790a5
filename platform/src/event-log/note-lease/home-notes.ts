/** One time of one server as master, with the token that its notes carry. Another server, and another time, is another home. */
export type Home = {
  /** Names one time as master. A server that restarts, or becomes a replica and a master again, has another term. */
  readonly term: string
  /** A flushed or replaced store lacks the token. */
  readonly token: string
}

/**
 * Acknowledged heads at a home. The server decides with each answer whether it is the home, so an answer counts whatever server a
 * connection leads to.
 */
export interface HomeNotes {
  /** Makes a server a possible home: gives the notes of all topics the token. Returns undefined if the server cannot be one. */
  claim(topics: readonly string[], token: string): Promise<Home | undefined>

  /** Records heads by partition as AcknowledgedHeads does. Returns whether they were recorded at the home. */
  note(home: Home, topic: string, heads: ReadonlyMap<number, number>): Promise<boolean>

  /** Returns the recorded heads of the partitions, 0 where there is none. Undefined if the server is not the home. */
  read(
    home: Home,
    topic: string,
    partitions: readonly number[],
  ): Promise<readonly number[] | undefined>
}
