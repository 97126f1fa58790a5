import { InvalidArgumentError } from 'commander'

/** Returns a parser for a command-line option that is a whole number within inclusive bounds. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (text.trim() !== '' && Number.isInteger(value) && value >= min && value <= max) return value
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`)
  }
}

/** Returns a parser for several whole numbers separated by commas. The result is sorted in ascending order. */
export function wholeNumbers(min: number, max: number): (text: string) => number[] {
  const read = wholeNumber(min, max)
  return (text) =>
    text
      .split(',')
      .map(read)
      .sort((one, other) => one - other)
}
