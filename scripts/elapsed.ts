// Lines with the seconds since the start before them: progress of things that take a while.
export function elapsedLines(): (line: string) => void {
  const began = performance.now()
  return (line) => {
    const seconds = ((performance.now() - began) / 1000).toFixed(1)
    console.log(`${seconds.padStart(5)} s  ${line}`)
  }
}
