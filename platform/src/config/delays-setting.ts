import type { Setting } from './settings.ts'

const delaysMax = 30
const secondsMax = 2_592_000

/** A setting of the delays between attempts: whole numbers of seconds, separated by commas. */
export function delaysSetting(
  variable: string,
  description: string,
  defaultText: string,
): Setting<readonly number[]> {
  return {
    variable,
    description,
    defaultText,
    parse: (text) => {
      const delays = text.split(',').map((each) => Number(each.trim() || NaN))
      const isDelay = (each: number): boolean =>
        Number.isInteger(each) && each >= 0 && each <= secondsMax
      if (delays.length <= delaysMax && delays.every(isDelay)) return delays
      throw new Error(
        `must be up to ${delaysMax} whole numbers of seconds, each up to ${secondsMax}`,
      )
    },
  }
}
