import { playShare } from './play-share.ts'

playShare(0)
