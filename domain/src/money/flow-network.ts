/** An edge of a network. Its opposite edge has the same index with the last bit flipped. */
type Edge = { readonly to: number; left: bigint }

/** A capacity that no sum of money reaches. */
export const unbounded = 10n ** 38n

/**
 * Amounts that are assigned to sources of limited size: a network whose edges let at most their capacity through. What one call of
 * `push` has assigned stays assigned, but later calls may assign it to other edges on the same way.
 */
export class FlowNetwork {
  readonly #edges: Edge[] = []
  readonly #edgesOf: number[][] = []

  /** Returns a new node. */
  addNode(): number {
    return this.#edgesOf.push([]) - 1
  }

  /** Returns a new edge between two nodes. */
  connect(from: number, to: number, capacity: bigint): number {
    const edge = this.#edges.push({ to, left: capacity }, { to: from, left: 0n }) - 2
    this.#edgesOf[from]!.push(edge)
    this.#edgesOf[to]!.push(edge + 1)
    return edge
  }

  /** Pushes as much as possible between two nodes, and returns how much that is. */
  push(from: number, to: number): bigint {
    let pushed = 0n
    for (;;) {
      const path = this.#findPath(from, to)
      if (path === undefined) return pushed
      let amount = unbounded
      for (const edge of path) {
        const { left } = this.#edges[edge]!
        if (left < amount) amount = left
      }
      for (const edge of path) {
        this.#edges[edge]!.left -= amount
        this.#edges[edge ^ 1]!.left += amount
      }
      pushed += amount
    }
  }

  /** Returns how much goes through the edge. */
  flowOf(edge: number): bigint {
    return this.#edges[edge ^ 1]!.left
  }

  /** Returns the shortest way that has capacity left. Using the shortest ones first bounds how many there are. */
  #findPath(from: number, to: number): number[] | undefined {
    const reachedBy = new Map<number, number>([[from, -1]])
    const reached = [from]
    for (const node of reached) {
      for (const edge of this.#edgesOf[node]!) {
        const next = this.#edges[edge]!
        if (next.left === 0n || reachedBy.has(next.to)) continue
        reachedBy.set(next.to, edge)
        if (next.to === to) return this.#pathTo(to, reachedBy)
        reached.push(next.to)
      }
    }
    return undefined
  }

  #pathTo(to: number, reachedBy: ReadonlyMap<number, number>): number[] {
    const path: number[] = []
    for (let edge = reachedBy.get(to)!; edge !== -1;) {
      path.push(edge)
      edge = reachedBy.get(this.#edges[edge ^ 1]!.to)!
    }
    return path
  }
}
