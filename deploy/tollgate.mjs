#!/usr/bin/env node
/*
 * `tollgate`, for the path of a shell: the same as `npm run tollgate --`, without npm's own lines. See docs/cli.md.
 */
process.argv.splice(2, 0, 'tollgate')
await import('./start.mjs')
