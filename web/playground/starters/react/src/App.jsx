import { useDeferredValue, useMemo, useState, version } from 'react';

const size = 15;

/** A wave over a grid of dots: state, memo and a few hundred nodes, enough to see React at work. */
export function App() {
  const [level, setLevel] = useState(6);
  const deferred = useDeferredValue(level);
  const dots = useMemo(() => wave(deferred), [deferred]);
  return (
    <main>
      <p className="eyebrow">Rendered by React {version}</p>
      <h1>No server built this page.</h1>
      <svg viewBox={`0 0 ${size} ${size}`} role="img" aria-label="A grid of dots shaped by a wave">
        {dots.map(({ x, y, radius }) => (
          <circle key={`${x},${y}`} cx={x + 0.5} cy={y + 0.5} r={radius} />
        ))}
      </svg>
      <label>
        <span>Frequency</span>
        <input type="range" min="1" max="16" value={level} onChange={(event) => setLevel(Number(event.target.value))} />
        <output>{level}</output>
      </label>
    </main>
  );
}

function wave(frequency) {
  const dots = [];
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      const distance = Math.hypot(x - size / 2 + 0.5, y - size / 2 + 0.5) / size;
      dots.push({ x, y, radius: 0.26 + 0.2 * Math.cos(distance * frequency * 2) });
    }
  }
  return dots;
}
