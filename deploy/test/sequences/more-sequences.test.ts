import { playShare } from './play-share.ts'

/* The other half of a long run. Vitest plays it in a process of its own, beside the first half. */

playShare(1, 'never yields more than one price pays for, and never charges twice')
