/* The explorer: every Renyi bound that a page can compute, against K.
 *
 * Parameters are read exactly, as fractions of BigInts; conditions are decided in them. The
 * formulas are those of the files in bounds/ named beside them, in double precision. Where a bound
 * has a condition that fails, the reason is the library's sentence, word for word.
 *
 * One name is left behind: window.hiddenstateExplorer = { evaluate, check, format, bounds, leftOut }.
 */
(function () {
  "use strict";

  /* ------------------------------------------------------------------ exact numbers */

  class BeyondDouble extends Error {}

  const abs = (x) => (x < 0n ? -x : x);
  const gcd = (x, y) => {
    while (y) [x, y] = [y, x % y];
    return x;
  };
  const bitLength = (x) => (x === 0n ? 0 : abs(x).toString(2).length);

  class Rational {
    constructor(top, under = 1n) {
      const sign = under < 0n ? -1n : 1n;
      const common = gcd(abs(top), abs(under)) || 1n;
      this.top = (sign * top) / common;
      this.under = (sign * under) / common;
    }
    plus(x) {
      return new Rational(this.top * x.under + x.top * this.under, this.under * x.under);
    }
    minus(x) {
      return new Rational(this.top * x.under - x.top * this.under, this.under * x.under);
    }
    times(x) {
      return new Rational(this.top * x.top, this.under * x.under);
    }
    over(x) {
      return new Rational(this.top * x.under, this.under * x.top);
    }
    /** Negative, 0 or positive as this is below, equal to or above x. */
    compare(x) {
      const gap = this.top * x.under - x.top * this.under;
      return gap < 0n ? -1 : gap > 0n ? 1 : 0;
    }
    get whole() {
      return this.under === 1n;
    }
    /** The nearest double. Throws BeyondDouble outside the range of normal doubles. */
    toNumber() {
      if (this.top === 0n) return 0;
      const top = abs(this.top);
      const shift = 68 - bitLength(top) + bitLength(this.under);
      const up = shift > 0 ? top << BigInt(shift) : top;
      const down = shift < 0 ? this.under << BigInt(-shift) : this.under;
      let quotient = up / down;
      if (up % down) quotient |= 1n; // so that Number() rounds as if it saw every digit
      const half = Math.trunc(-shift / 2);
      const size = Number(quotient) * 2 ** half * 2 ** (-shift - half);
      if (!(size >= 2.2250738585072014e-308 && size < Infinity)) {
        throw new BeyondDouble(
          `a quantity of this setting is ${size > 1 ? "larger" : "smaller"} than double ` +
            "precision holds"
        );
      }
      return this.top < 0n ? -size : size;
    }
    /** As a user would type it: a short decimal, else a fraction. */
    toString() {
      if (this.whole) return String(this.top);
      let rest = this.under;
      let places = 0;
      for (const prime of [2n, 5n]) {
        let power = 0;
        for (; rest % prime === 0n; rest /= prime) power += 1;
        places = Math.max(places, power);
      }
      if (rest === 1n && bitLength(this.under) < 200) {
        const digits = String((abs(this.top) * 10n ** BigInt(places)) / this.under);
        const sign = this.top < 0n ? "-" : "";
        const lead = digits.length - 1 - places;
        let text;
        if (lead >= -6) {
          const padded = digits.padStart(places + 1, "0");
          text = `${sign}${padded.slice(0, -places)}.${padded.slice(-places)}`;
        } else {
          text = `${sign}${digits[0]}${digits.length > 1 ? `.${digits.slice(1)}` : ""}E${lead}`;
        }
        if (digits.length <= 28 && text.length <= 24) return text;
      }
      return `${this.top}/${this.under}`;
    }
  }

  const integer = (x) => new Rational(BigInt(x));
  const ZERO = integer(0);
  const ONE = integer(1);
  const TWO = integer(2);

  const DECIMAL = /^([+-]?)(\d+(?:\.\d*)?|\.\d+)(?:[eE]([+-]?\d{1,5}))?$/;
  const FRACTION = /^([+-]?\d+)\s*\/\s*(\d+)$/;
  const LONGEST = 400;
  const LARGEST_EXPONENT = 400;

  /** An exact number from text. Throws Error with one sentence. */
  function exact(text) {
    const trimmed = text.trim();
    const shown = trimmed.length > 24 ? `${trimmed.slice(0, 24)}…` : trimmed;
    if (trimmed.length <= LONGEST) {
      const fraction = FRACTION.exec(trimmed);
      if (fraction) {
        const under = BigInt(fraction[2]);
        if (!under) throw new Error(`${shown} divides by zero.`);
        const top = fraction[1].replace("+", "");
        return new Rational(top[0] === "-" ? -BigInt(top.slice(1)) : BigInt(top), under);
      }
      const decimal = DECIMAL.exec(trimmed);
      if (decimal) {
        const [before, after = ""] = decimal[2].split(".");
        const power = Number(decimal[3] || 0) - after.length;
        if (Math.abs(power) > LARGEST_EXPONENT) {
          throw new Error(`${shown} is beyond what double precision holds.`);
        }
        const digits = BigInt(decimal[1].replace("+", "") + "1") * BigInt(before + after);
        const scale = 10n ** BigInt(Math.abs(power));
        return power < 0 ? new Rational(digits, scale) : new Rational(digits * scale);
      }
    }
    throw new Error(
      trimmed === ""
        ? "A value is wanted: an integer, a decimal such as 0.02 or a fraction such as 2/5."
        : `“${shown}” cannot be read; an integer, a decimal such as 0.02 or a fraction such as ` +
          "2/5 is wanted."
    );
  }

  /* ------------------------------------------------- parameters and their conditions */

  const PARAMETERS = {
    n: { flag: "--n", symbol: "n", kind: "integer" },
    b: { flag: "--b", symbol: "b", kind: "integer" },
    epochs: { flag: "--epochs", symbol: "K", kind: "integer" },
    eta: { flag: "--eta", symbol: "eta", kind: "real" },
    lambda: { flag: "--lambda", symbol: "lambda", kind: "real" },
    beta: { flag: "--beta", symbol: "beta", kind: "real" },
    sensitivity: { flag: "--sensitivity", symbol: "S_g", kind: "real" },
    sigma2: { flag: "--sigma2", symbol: "sigma^2", kind: "real" },
    alpha: { flag: "--alpha", symbol: "alpha", kind: "real" },
    position: { flag: "--position", symbol: "j_0", kind: "integer" },
  };
  const OPTIONAL = ["lambda", "beta", "position"];
  const MOST_COUNT = 10n ** 15n;

  const above = (x, y) => x.compare(y) > 0;
  const below = (x, y) => x.compare(y) < 0;
  const assumption = (label, condition, needs, holds, limit = () => "") => ({
    label,
    condition,
    needs,
    holds,
    limit,
  });
  const limitOf = (sign, value) => (s) => `the limit is eta ${sign} ${value(s)}`;
  const overBoth = (s) => TWO.over(s.lambda.plus(s.beta));

  const ORDER = assumption("order", "alpha > 1", ["alpha"], (s) => above(s.alpha, ONE));
  const DATA_SIZE = assumption("data-size", "n >= 1", ["n"], (s) => !below(s.n, ONE));
  const BATCH_SIZE = assumption(
    "batch-size",
    "1 <= b <= n",
    ["b", "n"],
    (s) => !below(s.b, ONE) && !above(s.b, s.n)
  );
  const EPOCHS = assumption(
    "epochs",
    "K >= 1",
    ["epochs"],
    (s) => !below(s.epochs, ONE),
    () => "K counts epochs"
  );
  const ONE_EPOCH = assumption(
    "one-epoch",
    "K = 1",
    ["epochs"],
    (s) => s.epochs.compare(ONE) === 0
  );
  const NOISE = assumption("noise", "sigma^2 > 0", ["sigma2"], (s) => above(s.sigma2, ZERO));
  const SENSITIVITY = assumption("sensitivity", "S_g > 0", ["sensitivity"], (s) =>
    above(s.sensitivity, ZERO)
  );
  const STEP_POSITIVE = assumption("step-size", "eta > 0", ["eta"], (s) => above(s.eta, ZERO));
  const STRONGLY_CONVEX = assumption("strong-convexity", "lambda > 0", ["lambda"], (s) =>
    above(s.lambda, ZERO)
  );
  const SMOOTHNESS = assumption(
    "smoothness",
    "beta >= lambda, beta > 0",
    ["lambda", "beta"],
    (s) => !below(s.beta, s.lambda) && above(s.beta, ZERO)
  );
  const SMOOTH = assumption("smoothness", "beta > 0", ["beta"], (s) => above(s.beta, ZERO));
  const STEP_SIZE = assumption(
    "step-size",
    "eta < 2/(lambda + beta)",
    ["eta", "lambda", "beta"],
    (s) => below(s.eta.times(s.lambda.plus(s.beta)), TWO),
    limitOf("<", overBoth)
  );
  const STEP_SIZE_CLOSED = assumption(
    "step-size",
    "eta <= 2/(lambda + beta)",
    ["eta", "lambda", "beta"],
    (s) => !above(s.eta.times(s.lambda.plus(s.beta)), TWO),
    limitOf("<=", overBoth)
  );
  const STEP_SIZE_CONVEX = assumption(
    "step-size",
    "eta < 2/beta",
    ["eta", "beta"],
    (s) => below(s.eta.times(s.beta), TWO),
    limitOf("<", (s) => TWO.over(s.beta))
  );
  const STEP_SIZE_CONVEX_CLOSED = assumption(
    "step-size",
    "eta <= 2/beta",
    ["eta", "beta"],
    (s) => !above(s.eta.times(s.beta), TWO),
    limitOf("<=", (s) => TWO.over(s.beta))
  );
  const STEP_SIZE_SMALL = assumption(
    "step-size",
    "eta < 1/beta",
    ["eta", "beta"],
    (s) => below(s.eta.times(s.beta), ONE),
    limitOf("<", (s) => ONE.over(s.beta))
  );
  const TWO_BATCHES = assumption(
    "at-least-two-batches",
    "n/b >= 2",
    ["n", "b"],
    (s) => s.batches >= 2n
  );
  const FULL_BATCH = assumption("full-batch", "b = n", ["b", "n"], (s) => !s.b.compare(s.n));
  const POSITION = assumption(
    "position",
    "0 <= j_0 < floor(n/b)",
    ["position", "n", "b"],
    (s) => s.place >= 0n && s.place < s.batches,
    (s) => `positions run from 0 to ${s.batches - 1n}`
  );
  const OF_EPOCHS = new Set([EPOCHS, ONE_EPOCH]);

  /** The label and the library's sentence where a condition fails, else null. */
  function failure(condition, setting, bound) {
    if (condition.holds(setting)) return null;
    let advice = condition.limit(setting);
    if (condition === TWO_BATCHES && setting.n.compare(setting.b) === 0) {
      advice = `b = n is the full-batch case, which ${bound.fullBatch || "full_batch"} serves`;
    }
    const found = condition.needs
      .map((name) => `${PARAMETERS[name].symbol} = ${setting[name] ?? "None"}`)
      .join(", ");
    return {
      label: condition.label,
      reason:
        `${condition.label}: ${condition.condition} is required, found ${found}` +
        (advice ? `; ${advice}` : ""),
    };
  }

  /* --------------------------------------------------------------- stable arithmetic */

  /** 1 - x for exact x in [0, 1], with its logarithm. */
  function complement(x) {
    const rest = ONE.minus(x);
    if (rest.top === 0n) return { value: 0, log: -Infinity };
    const small = below(x.plus(x), ONE);
    const value = rest.toNumber();
    return { value, log: small ? Math.log1p(-x.toNumber()) : Math.log(value) };
  }
  /** c^m */
  function power(c, m) {
    if (c.value === 0) return m === 0 ? 1 : 0;
    return Math.exp(m * c.log);
  }
  /** 1 - c^m */
  function lessPower(c, m) {
    if (c.value === 0) return m === 0 ? 0 : 1;
    return -Math.expm1(m * c.log);
  }
  const ratioExp = (x) => (x === 0 ? 1 : Math.expm1(x) / x);
  const ratioLog = (x) => (x === 0 ? 1 : Math.log1p(x) / x);
  /** log(1 + e^x) */
  const softPlus = (x) => (x > 0 ? x + Math.log1p(Math.exp(-x)) : Math.log1p(Math.exp(x)));

  /** e^x - 1 for x >= 0; most of a long mean has tiny x, where a few terms are as good. */
  function growth(x) {
    if (x > 2e-3) return Math.expm1(x);
    return x * (1 + (x / 2) * (1 + (x / 3) * (1 + (x / 4) * (1 + x / 5))));
  }

  /** log of the mean of exp(scale values[j]), where values fall from values[0]. */
  function logMeanExp(scale, values) {
    const count = values.length;
    const top = scale * values[0];
    let total = 0;
    if (top <= 30) {
      for (let j = 0; j < count; j += 1) total += growth(scale * values[j]);
      return Math.log1p(total / count);
    }
    for (let j = 0; j < count; j += 1) total += Math.exp(scale * values[j] - top);
    return top + Math.log(total / count);
  }

  /* log Gamma(x) for x in (0, 1]: Stirling's series at x + 12 */
  function logGamma(x) {
    let product = 1;
    for (let i = 0; i < 12; i += 1) product *= x + i;
    const y = x + 12;
    const w = 1 / (y * y);
    const series = (1 / 12 - w * (1 / 360 - w * (1 / 1260 - w * (1 / 1680 - w / 1188)))) / y;
    return (y - 0.5) * Math.log(y) - y + 0.5 * Math.log(2 * Math.PI) + series - Math.log(product);
  }

  const FIXED = 420n; // bits after the point

  /** log(x) for a fixed-point x in [1/2, 1], as -2 artanh((1 - x)/(1 + x)). */
  function logFixed(x) {
    const one = 1n << FIXED;
    const z = ((one - x) << FIXED) / (one + x);
    const square = (z * z) >> FIXED;
    let term = z;
    let total = 0n;
    for (let k = 1n; term; k += 2n) {
      total += term / k;
      term = (term * square) >> FIXED;
    }
    return -2n * total;
  }

  /** s + log p, exactly before it is rounded: near p e^s = 1 nearly all of it cancels. */
  function sumWithLog(s, p) {
    const shift = bitLength(p.under) - bitLength(p.top);
    let x = ((p.top << FIXED) << BigInt(shift)) / p.under; // in (1/2, 2)
    let twos = BigInt(-shift);
    if (x > 1n << FIXED) {
      x >>= 1n;
      twos += 1n;
    }
    const logTwo = -logFixed(1n << (FIXED - 1n));
    const total = (s.top << FIXED) / s.under + logFixed(x) + twos * logTwo;
    return new Rational(total, 1n << FIXED).toNumber();
  }

  /* ------------------------------- the recursion of (95) and (101): arith/attenuation.py */

  const BERNOULLI = [1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510];
  const tiny = (x, y) => x <= y * 2 ** -60;

  /** q^(i-m) W_(t+m)/W_(t+i): what the updates m + 1, ..., i of an epoch leave. */
  function kept(c, t, m, i) {
    return (power(c, 2 * (i - m)) * lessPower(c, 2 * (t + m))) / lessPower(c, 2 * (t + i));
  }

  /** count -> u_count for a gain of 1, u <- (u + 1) f_k; O(1) whatever the count. */
  function attenuation(c, size, held) {
    if (held === size) return (count) => count;
    const less = (m) => lessPower(c, 2 * m);
    const steps = [0];
    const stepped = (count) => {
      for (let k = steps.length - 1; k < count; k += 1) {
        steps.push((steps[k] + 1) * kept(c, k * size, held, size));
      }
      return steps[count];
    };
    const early = (k) => {
      const ratio = power(c, 2 * size);
      let term = (ratio * less(size * (k + 1))) / less(2 * size - held);
      let total = term;
      for (let n = 1; !tiny(term, total * less(size)); n += 1) {
        term *= (ratio * less(size * n) * less(size * (k + 1 + n))) / less(size * (n + 2) - held);
        total += term;
      }
      return total - 1;
    };
    const late = (k) => {
      let weight = 1;
      let gap = c.log * (-2 * held * k);
      const first = -Math.expm1(-gap);
      let total = first;
      for (let n = 1; !tiny(weight, first); n += 1) {
        const part = less(held) / less(size * n);
        gap += Math.log1p(-part * part * power(c, 2 * (size * n - held)));
        weight *= (power(c, 2 * (held + size * k)) * less(size * n - held)) / less(size * n);
        total -= weight * Math.expm1(-gap);
      }
      const series = total * power(c, 2 * (held + (size - held) * k));
      return power(c, 2 * (size - held)) / less(size - held) - series / less(held);
    };
    const sigma = -2 * size * c.log;
    /** log(f_0 ... f_(count-1)) for count > 512, by Gamma functions and power sums. */
    const earlyProduct = (count) => {
      const mu = held / size;
      const d = mu - 1;
      const w = count + mu / 2;
      let out = d * Math.log(w) - (d * (d * d - 1)) / (24 * w * w) - logGamma(mu);
      out += (sigma * d * count) / 2;
      const x = sigma * count;
      // B_i(mu) - B_i(1) for i = 1..4: the power sums of m differ by these over powers of count.
      const m2 = mu * mu;
      const gaps = [
        d,
        m2 - mu,
        m2 * mu - 1.5 * m2 + 0.5 * mu,
        m2 * m2 - 2 * m2 * mu + m2,
      ];
      let factorial = 1;
      for (let j = 1; j <= BERNOULLI.length; j += 1) {
        const m = 2 * j;
        factorial *= (m - 1) * m;
        let choose = 1;
        let sum = 0;
        for (let i = 1; i <= Math.min(m, 4); i += 1) {
          choose *= (m + 2 - i) / i;
          sum += choose * gaps[i - 1] * count ** (1 - i);
        }
        out += ((BERNOULLI[j - 1] / (m * factorial)) * sum * x ** m) / (m + 1);
      }
      return out;
    };
    const lateProduct = (low, high) => {
      const count = high - low;
      let total = 0;
      for (let n = 1; !tiny(power(c, 2 * n * low * size), 1); n += 1) {
        total +=
          ((power(c, 2 * n * (held + low * size)) / n) *
            less(n * (size - held)) *
            less(n * size * count)) /
          less(n * size);
      }
      return c.log * (2 * (size - held) * count) - total;
    };
    return (count) => {
      const turn =
        sigma * count <= Math.LN2 ? count : Math.min(count, Math.floor(Math.LN2 / sigma) + 1);
      let u;
      if (turn <= 512) u = stepped(turn);
      else u = early(turn) - early(0) * Math.exp(earlyProduct(turn));
      if (turn === count) return u;
      return late(count) + (u - late(turn)) * Math.exp(lateProduct(turn, count));
    };
  }

  /* --------------------------------- the recursion of Theorem 4.3: arith/resampling.py */

  const ETA = 1 / 16;
  const TERMS = 16;

  /** Least squares solution of least norm, by one-sided Jacobi rotations. */
  function solve(matrix, right) {
    const n = right.length;
    const a = matrix.map((row) => row.slice());
    const v = a.map((_, i) => a.map((__, j) => (i === j ? 1 : 0)));
    for (let sweep = 0; sweep < 40; sweep += 1) {
      let turned = false;
      for (let p = 0; p < n - 1; p += 1) {
        for (let q = p + 1; q < n; q += 1) {
          let pp = 0;
          let qq = 0;
          let pq = 0;
          for (let i = 0; i < n; i += 1) {
            pp += a[i][p] * a[i][p];
            qq += a[i][q] * a[i][q];
            pq += a[i][p] * a[i][q];
          }
          if (Math.abs(pq) <= 1e-16 * Math.sqrt(pp * qq)) continue;
          turned = true;
          const zeta = (qq - pp) / (2 * pq);
          const t = (zeta < 0 ? -1 : 1) / (Math.abs(zeta) + Math.hypot(1, zeta));
          const cos = 1 / Math.hypot(1, t);
          const sin = cos * t;
          for (const rows of [a, v]) {
            for (let i = 0; i < n; i += 1) {
              const x = rows[i][p];
              rows[i][p] = cos * x - sin * rows[i][q];
              rows[i][q] = sin * x + cos * rows[i][q];
            }
          }
        }
      }
      if (!turned) break;
    }
    const sizes = right.map((_, j) => Math.hypot(...a.map((row) => row[j])));
    const most = Math.max(...sizes);
    const out = new Array(n).fill(0);
    for (let j = 0; j < n; j += 1) {
      if (sizes[j] <= 4e-15 * most) continue;
      let part = 0;
      for (let i = 0; i < n; i += 1) part += a[i][j] * right[i];
      part /= sizes[j] * sizes[j];
      for (let i = 0; i < n; i += 1) out[i] += v[i][j] * part;
    }
    return out;
  }

  /**
   * T -> log S_T of S <- p e^s S + (1 - p) S^(1 - h), S_0 = 1; O(1) whatever T.
   *
   * Steps are taken until the gain changes slowly; from then on its change is a density, found
   * once by collocation, and time is solved for by Newton's method.
   */
  function resampling(exactS, exactP, exactH) {
    const s = exactS.toNumber();
    const p = exactP.toNumber();
    const b = ONE.minus(exactP).toNumber();
    const h = exactH.toNumber();
    const alpha = sumWithLog(exactS, exactP);
    const up = alpha > 0;
    const far = Math.abs(alpha);
    const first = up ? 0 : p * Math.expm1(s);
    const gainAt = (y) => {
      const z = h * y;
      if (up) {
        const excess = Math.log1p(b * Math.exp(-z - alpha));
        return { gain: alpha + excess, v: excess };
      }
      // Either form keeps its digits where it is used, however close p e^s is to 1.
      const v = Math.log1p(
        z < 0.5 ? first + b * Math.expm1(-z) : Math.expm1(alpha) + b * Math.exp(-z)
      );
      return { gain: v, v };
    };
    const fall = (v) => {
      const gain = up ? far + v : v;
      const excess = up ? v : far + v;
      return -Math.log1p(-Math.expm1(-h * gain) * Math.expm1(-excess));
    };

    const orbit = [0];
    let settled = false;
    let lost = 0;
    let start = 0;
    for (let step = 0; ; step += 1) {
      const { gain, v } = gainAt(orbit[step]);
      start = v;
      const reach = up ? v / -Math.expm1(-h * alpha) : v;
      settled = v <= 0 || step === 640 || (up && reach <= 1e-18 * orbit[step]);
      if (settled || (step >= 64 && fall(v) <= ETA * v)) break;
      const term = gain - lost;
      const total = orbit[step] + term;
      lost = total - orbit[step] - term;
      orbit.push(total);
    }
    const done = orbit.length - 1;
    const density = settled ? null : collocate(start, far, h, fall);

    return (steps) => {
      if (steps <= done) return orbit[steps];
      const rest = steps - done;
      if (settled) return orbit[done] + (up ? rest * alpha : 0);
      return orbit[done] + later(density, start, far, up, h * rest) / h;
    };
  }

  function collocate(top, far, h, fall) {
    const matrix = [];
    const right = [];
    for (let i = 0; i < TERMS; i += 1) {
      const v = top * Math.sin((i + 0.5) * (Math.PI / (2 * TERMS))) ** 2;
      const drop = fall(v);
      const psi = drop / (v * (v - drop + far));
      const time = psi * ratioLog(-far * psi);
      const xi = (2 * v) / top - 1;
      const after = (2 * (v - drop)) / top - 1;
      const weight = drop / (time * top * (top + far));
      const row = [1, Math.log1p(v * psi) / (time * top)];
      let mean = 1;
      let last = 1;
      for (let k = 0; k < TERMS - 2; k += 1) {
        row.push((weight * mean) / (k + 1));
        last *= after;
        mean = xi * mean + last;
      }
      matrix.push(row);
      right.push(h / time);
    }
    return solve(matrix, right);
  }

  function later(density, start, far, up, target) {
    const [level, slope, ...powers] = density;
    const scale = start * (start + far);
    const at = (time) => {
      const psi = time * ratioExp(-far * time);
      const under = 1 + start * psi;
      const drop = (scale * psi) / under;
      const last = (start * Math.exp(-far * time)) / under;
      const xi = 1 - drop / (start / 2);
      let [term, mean, total, value] = [1, 1, 0, 0];
      powers.forEach((weight, k) => {
        total += (weight * mean) / (k + 1);
        value += weight * term;
        term *= xi;
        mean += term;
      });
      return {
        psi,
        under,
        drop,
        integral: level * time + (slope * Math.log1p(start * psi)) / start + (total * drop) / scale,
        density: level + (slope * last) / start + (value * last * ((start + far) / under)) / scale,
      };
    };
    let time = target / density.reduce((x, y) => x + y, 0);
    for (let i = 0; i < 40; i += 1) {
      const here = at(time);
      const move = (target - here.integral) / here.density;
      time += move;
      if (Math.abs(move) <= 2e-16 * time) break;
    }
    const { psi, under, drop } = at(time);
    const short = up ? (start * Math.exp(-far * time)) / under : (start + far) / under;
    const grown = ratioExp(drop) / ratioExp(-short);
    const rise = psi * (up ? start + (start + far) * (grown - 1) : start * grown);
    return (up ? far * time : 0) + Math.log1p(rise);
  }

  /* ------------------------------------------- one step of the sampled Gaussian mechanism */

  const LONGEST_BINOMIAL = 20000;
  const SCALE_BITS = 512;

  /**
   * log(1 + sum_(k>=2) C(n,k) q^(n-k) p^k (e^(a k (k-1)) - 1))/(n - 1) for a whole order n.
   *
   * All terms are positive. Weights are kept in [2^-512, 2^512] with a count of the factors taken
   * out, and start from the likelier end.
   */
  function sampledGaussian(n, p, q, a) {
    const likely = Math.max(p, q);
    const odds = Math.min(p, q) / likely;
    const unit = SCALE_BITS * Math.LN2;
    const start = n * (likely < 0.75 ? Math.log(likely) : Math.log1p(-Math.min(p, q)));
    let taken = Math.round(start / unit);
    let weight = Math.exp(start - taken * unit);
    const logs = new Float64Array(n + 1);
    let top = -Infinity;
    for (let i = 0; i <= n; i += 1) {
      if (i > 0) weight *= (odds * (n - i + 1)) / i;
      while (weight < 2 ** -SCALE_BITS && weight > 0) {
        weight *= 2 ** SCALE_BITS;
        taken -= 1;
      }
      while (weight > 2 ** SCALE_BITS) {
        weight *= 2 ** -SCALE_BITS;
        taken += 1;
      }
      const k = p <= q ? i : n - i;
      const x = a * k * (k - 1);
      const gain = x > 40 ? x : Math.log(Math.expm1(x));
      logs[i] = k < 2 ? -Infinity : Math.log(weight) + taken * unit + gain;
      top = Math.max(top, logs[i]);
    }
    let total = 0;
    for (let i = 0; i <= n; i += 1) total += Math.exp(logs[i] - top);
    return softPlus(top + Math.log(total)) / (n - 1);
  }

  /* --------------------------------------------------------------- the bounds themselves */

  /** Thrown where the bound holds but the page does not compute it. */
  class NotComputed extends Error {}

  const MOST_TERMS = 1000000;
  const MOST_CELLS = 2000000;

  /** q^(j-1)/(1 + q + ... + q^(j-1)): paper/first_epoch.py, profile */
  function profile(c, j) {
    return (power(c, 2 * (j - 1)) * lessPower(c, 2)) / lessPower(c, 2 * j);
  }
  const share = (p, j) => p.rate * profile(p.c, j);

  /** The first term of (3) over alpha: paper/fixed_order.py, earlier_epochs */
  function earlierEpochs(p) {
    const rest = p.batches - p.half;
    const front = share(p, p.half) / lessPower(p.c, 2 * rest);
    return (K) => front * lessPower(p.c, 2 * (K - 1) * rest);
  }

  /** (1 - c^m)/(1 + c^m) */
  const spread = (c, m) => lessPower(c, m) / (1 + power(c, m));

  const decayed = (p) => (K) => (4 * -Math.expm1(-(p.etaLambda * K) / 2)) / p.etaLambda;

  function balleShare(p, position) {
    const after = p.batches - position - 1;
    if (after === 0) return p.rate;
    const { eta, beta, lambda } = p.given;
    const lost = TWO.times(eta).times(beta).times(lambda).over(beta.plus(lambda));
    return (p.rate * power(complement(lost), (after + 1) / 2)) / after;
  }

  /** V_r at K: derived/optimal_fixed_order.py, value. Constants of r and of K are taken apart. */
  function optimalOfRest(p, r) {
    const { c } = p;
    const one = lessPower(c, 2);
    const recent = lessPower(c, 2 * r);
    return { fresh: power(c, 2 * (r - 1)), last: (power(c, 2 * r - 1) * one) / recent, recent };
  }
  function optimalOfEpochs(p, K) {
    const { c, batches: size } = p;
    const run = size * (K - 1);
    const one = lessPower(c, 2);
    const hits = lessPower(c, size * K) / lessPower(c, size);
    return {
      before: lessPower(c, 2 * run),
      kept: power(c, 2 * run),
      chord: hits * hits * one,
      first: (power(c, size - 1) * one) / (lessPower(c, size) * (1 + power(c, run))),
      one,
    };
  }
  function optimalValue(fresh, last, recent, k) {
    const spent = k.before + k.kept * recent;
    const bend = last > k.first ? last - k.first : 0;
    return (fresh * k.chord) / spent + bend * bend * (k.before / k.one) * (recent / spent);
  }

  function convexRest(p) {
    return (K) => p.alpha * p.rate * ((K - 1) / p.batches + 1 / p.rest);
  }

  function shufflePartition(p) {
    if (p.batches > MOST_TERMS) {
      throw new NotComputed(`its mean has n/b = ${p.batches} terms, at most ${MOST_TERMS} here`);
    }
    const values = new Float64Array(p.batches);
    for (let j = 1; j <= p.batches; j += 1) values[j - 1] = profile(p.c, j);
    const mean = logMeanExp(p.scale, values) / p.less;
    const earlier = earlierEpochs(p);
    return (K) => p.alpha * earlier(K) + mean;
  }

  function optimalShuffle(p) {
    const size = p.batches;
    if (size * p.wanted > MOST_CELLS) {
      throw new NotComputed(
        `its mean is new for every K: n/b = ${size} terms for ${p.wanted} values of K are ` +
          `more than ${MOST_CELLS}`
      );
    }
    const fresh = new Float64Array(size);
    const last = new Float64Array(size);
    const recent = new Float64Array(size);
    for (let r = 1; r <= size; r += 1) {
      const rest = optimalOfRest(p, r);
      [fresh[r - 1], last[r - 1], recent[r - 1]] = [rest.fresh, rest.last, rest.recent];
    }
    const values = new Float64Array(size);
    return (K) => {
      const k = optimalOfEpochs(p, K);
      for (let i = 0; i < size; i += 1) {
        values[i] = optimalValue(fresh[i], last[i], recent[i], k);
      }
      return logMeanExp(p.scale, values) / p.less;
    };
  }

  const CONTRACTION = [ORDER, EPOCHS, NOISE, SENSITIVITY, STEP_POSITIVE, STRONGLY_CONVEX,
    SMOOTHNESS];
  const RELEASED = [ORDER, EPOCHS, NOISE, SENSITIVITY, STEP_POSITIVE];
  const once = (list) => list.map((item) => (item === EPOCHS ? ONE_EPOCH : item));

  const YE = "Ye and Shokri 2022";

  /* curve(p) does what does not depend on K and returns K -> epsilon. */
  const BOUNDS = [
    {
      name: "optimal_fixed_order",
      statement: "optimal_fixed_order",
      source: "derived here, optimal shift bound, fixed order",
      scheme: "fixed order",
      assumptions: [...CONTRACTION, STEP_SIZE_CLOSED, POSITION],
      curve(p) {
        const { fresh, last, recent } = optimalOfRest(p, p.rest);
        return (K) =>
          p.alpha * p.rate * optimalValue(fresh, last, recent, optimalOfEpochs(p, K));
      },
    },
    {
      name: "bok_2024_cyclic",
      statement: "bok_2024_cyclic",
      source: "Bok et al. 2024, cyclic, strongly convex",
      scheme: "fixed order",
      fullBatch: "bok_2024_full_batch",
      assumptions: [...CONTRACTION, STEP_SIZE_CLOSED, TWO_BATCHES],
      curve(p) {
        const { c, batches: size } = p;
        const cycle = lessPower(c, size);
        const gain = (power(c, 2 * size - 2) * lessPower(c, 2)) / cycle / cycle;
        return (K) => p.alpha * p.rate * (1 + gain * spread(c, size * (K - 1)));
      },
    },
    {
      name: "recursion_combined",
      statement: "eq-101",
      source: `${YE}, proof of Theorem 3.3, equation (101)`,
      scheme: "fixed order",
      assumptions: [...CONTRACTION, STEP_SIZE, TWO_BATCHES, POSITION],
      curve(p) {
        const { c, batches: size, half, rest } = p;
        const gain = share(p, half);
        const sum = attenuation(c, size, half);
        if (rest <= half) return (K) => p.alpha * (gain * sum(K - 1) + share(p, rest));
        return (K) =>
          p.alpha * gain * (sum(K - 1) + 1) * kept(c, (K - 1) * size, half, rest);
      },
    },
    {
      name: "fixed_order",
      statement: "thm-3.3",
      source: `${YE}, Theorem 3.3, equation (3)`,
      scheme: "fixed order",
      assumptions: [...CONTRACTION, STEP_SIZE, TWO_BATCHES, POSITION],
      curve(p) {
        const earlier = earlierEpochs(p);
        const last = share(p, p.rest);
        return (K) => p.alpha * (earlier(K) + last);
      },
    },
    {
      name: "recursion_postprocessing",
      statement: "eq-095",
      source: `${YE}, proof of Theorem 3.3, equation (95)`,
      scheme: "fixed order",
      assumptions: [...CONTRACTION, STEP_SIZE, POSITION],
      curve(p) {
        const { c, batches: size, rest } = p;
        const sum = attenuation(c, size, 1);
        return (K) => p.alpha * p.rate * (sum(K - 1) + 1) * kept(c, (K - 1) * size, 1, rest);
      },
    },
    {
      name: "recursion_composition",
      statement: "eq-100",
      source: `${YE}, proof of Theorem 3.3, equation (100)`,
      scheme: "fixed order",
      assumptions: [...CONTRACTION, STEP_SIZE, POSITION],
      curve(p) {
        const whole = share(p, p.batches);
        const last = share(p, p.rest);
        return (K) => p.alpha * ((K - 1) * whole + last);
      },
    },
    {
      name: "balle_2019_composed",
      statement: "txt-d.6-last-batch",
      source: "Balle et al. 2019, Theorem 5, composed",
      scheme: "fixed order",
      assumptions: [...CONTRACTION, STEP_SIZE_CLOSED, POSITION],
      curve(p) {
        const whole = balleShare(p, 0);
        const last = balleShare(p, p.position);
        return (K) => p.alpha * ((K - 1) * whole + last);
      },
    },
    {
      name: "convex_fixed_order",
      statement: "thm-d.4",
      source: `${YE}, Theorem D.4, equation (80)`,
      scheme: "fixed order",
      assumptions: [...RELEASED, SMOOTH, STEP_SIZE_CONVEX, POSITION],
      curve: convexRest,
    },
    {
      name: "feldman_2018_epochs",
      statement: "feldman_2018_epochs",
      source: "Feldman et al. 2018, Theorem 23, composed",
      scheme: "fixed order",
      assumptions: [...RELEASED, SMOOTH, STEP_SIZE_CONVEX_CLOSED, POSITION],
      curve: convexRest,
    },
    {
      name: "fixed_order_composition",
      statement: "fixed_order_composition",
      source: "Mironov 2017, Propositions 1 and 7",
      scheme: "fixed order",
      assumptions: RELEASED,
      curve: (p) => (K) => p.alpha * p.rate * K,
    },
    {
      name: "first_epoch",
      statement: "eq-099",
      source: `${YE}, proof of Theorem 3.3, equation (99)`,
      scheme: "fixed order",
      assumptions: [...once(CONTRACTION), STEP_SIZE, POSITION],
      curve: (p) => () => p.alpha * share(p, p.rest),
    },
    {
      name: "balle_2019_one_epoch",
      statement: "thm-d.5",
      source: "Balle et al. 2019, Theorem 5, equation (111)",
      scheme: "fixed order",
      assumptions: [...once(CONTRACTION), STEP_SIZE_CLOSED, POSITION],
      curve: (p) => () => p.alpha * balleShare(p, p.position),
    },
    {
      name: "feldman_2018_one_epoch",
      statement: "feldman_2018_one_epoch",
      source: "Feldman et al. 2018, Theorem 23",
      scheme: "fixed order",
      assumptions: [...once(RELEASED), SMOOTH, STEP_SIZE_CONVEX_CLOSED, POSITION],
      curve: (p) => () => (p.alpha * p.rate) / p.rest,
    },
    {
      name: "optimal_shuffle",
      statement: "optimal_shuffle",
      source: "derived here, optimal shift bound, shuffle once",
      scheme: "shuffle once",
      assumptions: [...CONTRACTION, STEP_SIZE_CLOSED],
      curve: optimalShuffle,
    },
    {
      name: "shuffle_partition",
      statement: "thm-4.2",
      source: `${YE}, Theorem 4.2, equation (5)`,
      scheme: "shuffle once",
      assumptions: [...CONTRACTION, STEP_SIZE, TWO_BATCHES],
      curve: shufflePartition,
    },
    {
      name: "logistic_regression",
      statement: "cor-5.3",
      source: `${YE}, Corollary 5.3, equation (12)`,
      scheme: "shuffle once",
      standing: "claim",
      assumptions: [...CONTRACTION, STEP_SIZE, TWO_BATCHES],
      curve: shufflePartition,
    },
    {
      name: "naive_extension",
      statement: "thm-2.1",
      source: `${YE}, Theorem 2.1`,
      scheme: "shuffle once",
      assumptions: [...CONTRACTION, STEP_SIZE],
      curve(p) {
        const sum = decayed(p);
        return (K) => p.alpha * p.rate * sum(K);
      },
    },
    {
      name: "without_replacement",
      statement: "thm-4.3",
      source: `${YE}, Theorem 4.3, equation (6)`,
      scheme: "without replacement",
      assumptions: [...CONTRACTION, STEP_SIZE],
      curve(p) {
        if (p.n === p.b) return (K) => p.alpha * p.rate * K;
        const { given } = p;
        const gain = given.alpha.minus(ONE).times(given.alpha).times(given.rate);
        const lost = given.etaLambda.times(TWO.minus(given.etaLambda));
        const moment = resampling(gain, given.b.over(given.n), lost);
        return (K) => moment(K * p.batches) / p.less;
      },
    },
    {
      name: "optimal_without_replacement",
      statement: "optimal_without_replacement",
      source: "derived here, optimal shift bound, without replacement",
      scheme: "without replacement",
      assumptions: [...CONTRACTION, STEP_SIZE],
      curve(p) {
        if (p.n !== p.b) {
          throw new NotComputed(
            "below b = n it is a mean over patterns of up to two million atoms for each K"
          );
        }
        return (K) => (p.alpha * p.rate * spread(p.c, K)) / spread(p.c, 1);
      },
    },
    {
      name: "ryffel_2022",
      statement: "fn-2",
      source: "Ryffel et al. 2022, as quoted, Corollary 3.3",
      scheme: "without replacement",
      standing: "claim",
      assumptions: [...CONTRACTION, STEP_SIZE],
      curve(p) {
        const sum = decayed(p);
        return (K) => p.alpha * p.rate * sum(K) * (p.b / p.n) ** 2;
      },
    },
    {
      name: "sampled_gaussian",
      statement: "sampled_gaussian",
      source: "Mironov et al. 2019, Section 3.3",
      scheme: "Poisson",
      assumptions: RELEASED,
      curve(p) {
        const { given } = p;
        let step;
        if (p.n === p.b) step = p.alpha * p.rate;
        else {
          if (!given.alpha.whole) {
            throw new NotComputed("fractional orders need quadrature; give a whole order here");
          }
          if (p.alpha > LONGEST_BINOMIAL) {
            throw new NotComputed(`orders beyond ${LONGEST_BINOMIAL} need quadrature`);
          }
          const rest = given.n.minus(given.b).over(given.n).toNumber();
          step = sampledGaussian(p.alpha, p.b / p.n, rest, p.rate);
        }
        return (K) => K * p.batches * step;
      },
    },
    {
      name: "composition_per_epoch",
      statement: "txt-e.1-per-epoch",
      source: `${YE}, Section E.1 and Figure 2`,
      scheme: "Poisson",
      standing: "estimate",
      direction: "estimate",
      assumptions: RELEASED,
      curve: (p) => (K) => (p.alpha * p.rate * K * p.b) / p.n,
    },
    {
      name: "composition_per_step",
      statement: "txt-e.1-per-iteration",
      source: `${YE}, Section E.1`,
      scheme: "Poisson",
      standing: "estimate",
      direction: "estimate",
      assumptions: RELEASED,
      curve: (p) => (K) => p.alpha * p.rate * K * p.batches * (p.b / p.n) ** 2,
    },
    {
      name: "bok_2024_full_batch",
      statement: "bok_2024_full_batch",
      source: "Bok et al. 2024, full batch, strongly convex",
      scheme: "full batch",
      assumptions: [...CONTRACTION, STEP_SIZE_CLOSED, FULL_BATCH],
      curve: (p) => (K) => (p.alpha * p.rate * spread(p.c, K)) / spread(p.c, 1),
    },
    {
      name: "full_batch",
      statement: "thm-d.6",
      source: `${YE}, Theorem D.6, equation (112)`,
      scheme: "full batch",
      assumptions: [...CONTRACTION, STEP_SIZE_SMALL, FULL_BATCH],
      curve(p) {
        const r = complement(p.given.etaLambda.over(TWO));
        return (K) => (2 * p.alpha * p.rate * power(r, 1) * lessPower(r, K)) / lessPower(r, 1);
      },
    },
    {
      name: "chourasia_2021",
      statement: "thm-d.7",
      source: "Chourasia et al. 2021, Corollary 1, equation (127)",
      scheme: "full batch",
      assumptions: [...CONTRACTION, STEP_SIZE_SMALL, FULL_BATCH],
      curve(p) {
        const sum = decayed(p);
        return (K) => p.alpha * p.rate * sum(K);
      },
    },
    {
      name: "one_update",
      statement: "lem-3.2",
      source: `${YE}, Lemma 3.2, equation (2), second row`,
      scheme: "one update",
      assumptions: [ORDER, NOISE, SENSITIVITY, STEP_POSITIVE],
      curve: (p) => () => p.alpha * p.rate,
    },
  ].map((bound, index) => ({
    direction: "upper",
    standing: "theorem",
    ...bound,
    number: index + 1,
    needs: [...new Set(["n", "b", "epochs", ...bound.assumptions.flatMap((a) => a.needs)])].filter(
      (name) => name !== "position"
    ),
  }));

  const LEFT_OUT = [
    { name: "lsi_convex", reason: "a log-Sobolev constant, not a Rényi divergence" },
    { name: "lsi_strongly_convex", reason: "a log-Sobolev constant, not a Rényi divergence" },
  ];

  /* -------------------------------------------------------------------------- evaluate */

  /** Read the texts of a setting (all but K). Returns { setting } or { errors } by field. */
  function read(texts) {
    const setting = {};
    const errors = {};
    for (const [name, { kind }] of Object.entries(PARAMETERS)) {
      if (name === "epochs") continue;
      const text = String(texts[name] ?? "");
      if (text.trim() === "" && OPTIONAL.includes(name)) continue;
      try {
        const value = exact(text);
        if (kind === "integer") {
          if (!value.whole) throw new Error(`${value} is no integer.`);
          if (abs(value.top) > MOST_COUNT) throw new Error("At most 10^15 here.");
        }
        setting[name] = value;
      } catch (error) {
        errors[name] = error.message;
      }
    }
    return Object.keys(errors).length ? { errors } : { setting };
  }

  /** What follows from n and b, where they make sense. */
  function complete(setting) {
    const s = { ...setting };
    s.batches = s.b.top > 0n ? s.n.top / s.b.top : 0n;
    s.place = s.position === undefined ? s.batches - 1n : s.position.top;
    return s;
  }

  /** The doubles that formulas see. Throws BeyondDouble. */
  function bind(s, wanted) {
    const number = (x) => (x === undefined ? undefined : x.toNumber());
    const given = { ...s };
    given.rate = s.eta
      .times(s.sensitivity)
      .times(s.sensitivity)
      .over(integer(4).times(s.sigma2).times(s.b).times(s.b));
    given.etaLambda = s.lambda && s.eta.times(s.lambda);
    for (const name of ["eta", "lambda", "beta", "sensitivity", "sigma2"]) number(s[name]);
    const batches = Number(s.batches);
    const position = Number(s.place);
    const p = {
      given,
      n: number(s.n),
      b: number(s.b),
      batches,
      position,
      rest: batches - position,
      half: Math.floor(batches / 2),
      alpha: number(s.alpha),
      less: number(s.alpha.minus(ONE)),
      rate: number(given.rate),
      etaLambda: number(given.etaLambda),
      wanted,
    };
    // eta lambda is above 1 only where convexity is enough, and there nothing reads c.
    const contracts = given.etaLambda && !above(given.etaLambda, ONE);
    p.c = contracts ? complement(given.etaLambda) : undefined;
    p.scale = p.less * p.alpha * p.rate;
    return p;
  }

  /** Why a bound cannot be given whatever K is, else its curve. */
  function curveOf(bound, s, p) {
    try {
      if (p instanceof BeyondDouble) throw p;
      return { curve: bound.curve(p) };
    } catch (error) {
      if (!(error instanceof NotComputed || error instanceof BeyondDouble)) throw error;
      const label = error instanceof NotComputed ? "not-in-the-page" : "beyond-double";
      return { status: "not-computed", label, reason: error.message };
    }
  }

  /**
   * Every bound at one setting, over values of K.
   *
   * texts: strings by parameter name; `epochs` is a text, a number or a list of them.
   * Returns { errors } by field, or { epochs: [K], batches, bounds: [{ name, statement, scheme,
   * direction, standing, points: [{ status, value, label, reason }] }] }; status is "value",
   * "not-applicable" (label and reason are the library's) or "not-computed". No value is NaN.
   */
  function evaluate(texts) {
    const { setting, errors } = read(texts);
    const wanted = Array.isArray(texts.epochs) ? texts.epochs : [texts.epochs];
    const epochs = [];
    const wrong = { ...errors };
    for (const text of wanted) {
      try {
        const value = exact(String(text ?? ""));
        if (!value.whole) throw new Error(`${value} is no integer; K counts epochs.`);
        if (abs(value.top) > MOST_COUNT) throw new Error("At most 10^15 here.");
        epochs.push(value);
      } catch (error) {
        wrong.epochs = error.message;
      }
    }
    if (Object.keys(wrong).length) return { errors: wrong };

    const s = complete(setting);
    let p;
    const failures = new Map();
    const fails = (condition, bound) => {
      // The sentence of one condition depends on the bound, by what serves b = n.
      const key = condition === TWO_BATCHES ? `${condition.label} ${bound.fullBatch}` : condition;
      if (!failures.has(key)) failures.set(key, failure(condition, s, bound));
      return failures.get(key);
    };
    const bounds = BOUNDS.map((bound) => {
      const missing = bound.needs.filter((name) => name !== "epochs" && s[name] === undefined);
      let fixed = null;
      if (missing.length) {
        const flags = missing.map((name) => PARAMETERS[name].flag).join(", ");
        const were = missing.length === 1 ? "it was" : "they were";
        fixed = {
          label: "missing-parameter",
          reason: `${bound.name} needs ${flags}; ${were} not given`,
        };
      }
      const conditions = [DATA_SIZE, BATCH_SIZE, ...bound.assumptions];
      let made = null;
      const points = epochs.map((K) => {
        let failed = fixed;
        for (const condition of conditions) {
          if (failed) break;
          failed = OF_EPOCHS.has(condition)
            ? failure(condition, { ...s, epochs: K }, bound)
            : fails(condition, bound);
        }
        if (failed) return { status: "not-applicable", value: null, ...failed };
        if (p === undefined) {
          try {
            p = bind(s, epochs.length);
          } catch (error) {
            if (!(error instanceof BeyondDouble)) throw error;
            p = error;
          }
        }
        made = made || curveOf(bound, s, p);
        if (!made.curve) return { value: null, ...made };
        const value = made.curve(Number(K.top));
        if (!Number.isFinite(value)) {
          return {
            status: "not-computed",
            value: null,
            label: "beyond-double",
            reason: "this needs numbers beyond the range of double precision",
          };
        }
        return { status: "value", value, label: null, reason: null };
      });
      const { name, number, statement, source, scheme, direction, standing } = bound;
      return { name, number, statement, source, scheme, direction, standing, points };
    });
    return { epochs: epochs.map((K) => Number(K.top)), batches: Number(s.batches), bounds };
  }

  /** Six digits, as the command line prints them. */
  function format(x) {
    if (x === 0) return "0";
    const size = Math.abs(x);
    const [mantissa, exponent] = x.toExponential(5).split("e");
    const short = mantissa.replace(/\.?0+$/, "");
    if (size < 1e-4 || Number(exponent) >= 6) {
      const digits = exponent.slice(1).padStart(2, "0");
      return `${short}e${exponent[0]}${digits}`;
    }
    return String(Number(x.toPrecision(6)));
  }

  window.hiddenstateExplorer = Object.freeze({
    evaluate,
    check: (texts) => check(texts).errors,
    format,
    bounds: BOUNDS.map(({ name, statement, source, scheme, direction, standing, assumptions }) => ({
      name,
      statement,
      source,
      scheme,
      direction,
      standing,
      assumptions: assumptions.map(({ label, condition }) => ({ label, condition })),
    })),
    leftOut: LEFT_OUT,
  });

  /* ------------------------------------------------------------------------- the view */

  const PREFIX = "#explorer:";
  const GRID = 60;
  const NAMES = Object.keys(PARAMETERS);
  const SCHEMES = ["fixed order", "shuffle once", "without replacement", "Poisson", "full batch",
    "one update"];
  const COLOURS = ["#0072b2", "#b54708", "#00755a", "#9b3d88", "#5a5a5a", "#000000"];
  const DASHES = ["", "8 3", "2 3", "9 3 2 3", "14 4"];
  const MARKS = [
    (r) => `M${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`,
    (r) => `M${-r} ${-r}h${2 * r}v${2 * r}h${-2 * r}z`,
    (r) => `M0 ${-1.3 * r}l${1.2 * r} ${2.2 * r}h${-2.4 * r}z`,
    (r) => `M0 ${-1.4 * r}l${1.2 * r} ${1.4 * r}l${-1.2 * r} ${1.4 * r}l${-1.2 * r} ${-1.4 * r}z`,
    (r) => `M0 ${1.3 * r}l${1.2 * r} ${-2.2 * r}h${-2.4 * r}z`,
    (r) => `M${-r} ${-r}l${2 * r} ${2 * r}M${-r} ${r}l${2 * r} ${-2 * r}`,
    (r) => `M${-1.2 * r} 0h${2.4 * r}M0 ${-1.2 * r}v${2.4 * r}`,
  ];
  const LOOK = new Map(
    SCHEMES.flatMap((scheme, i) =>
      BOUNDS.filter((bound) => bound.scheme === scheme).map((bound, j) => [
        bound.name,
        { colour: COLOURS[i], dash: DASHES[j % DASHES.length], mark: MARKS[j % MARKS.length] },
      ])
    )
  );
  const STANDING = { theorem: "", claim: "claimed only", estimate: "an estimate, no bound" };

  /** Like `read`, with what a parameter may be by itself, and the range of K. */
  function check(texts) {
    const { setting, errors = {} } = read(texts);
    const wrong = { ...errors };
    const value = (name) => {
      if (wrong[name]) return null;
      try {
        const text = String(texts[name] ?? "");
        return text.trim() === "" && OPTIONAL.includes(name) ? null : exact(text);
      } catch {
        return null;
      }
    };
    const want = (name, holds, sentence) => {
      const x = value(name);
      if (x && !holds(x)) wrong[name] = sentence;
    };
    want("n", (x) => !below(x, ONE), "At least 1 record is wanted.");
    want("b", (x) => !below(x, ONE), "At least 1 record a batch is wanted.");
    const n = value("n");
    if (n) want("b", (x) => !above(x, n), `A batch has at most n = ${n} records.`);
    for (const [name, what] of [
      ["eta", "The step size"],
      ["sensitivity", "The sensitivity"],
      ["sigma2", "The noise"],
      ["beta", "The smoothness"],
    ]) {
      want(name, (x) => above(x, ZERO), `${what} is above 0.`);
    }
    want("lambda", (x) => !below(x, ZERO), "The strong convexity is at least 0.");
    want("alpha", (x) => above(x, ONE), "The order is above 1.");
    const b = value("b");
    if (n && b) {
      const last = n.top / b.top - 1n;
      const inside = (x) => x.top >= 0n && x.top <= last;
      want("position", inside, `Batches are counted from 0 to ${last} here.`);
    }
    for (const name of ["epochs", "from", "to"]) {
      try {
        const K = exact(String(texts[name] ?? ""));
        if (!K.whole) throw new Error(`${K} is no integer; K counts epochs.`);
        if (below(K, ONE)) throw new Error("At least 1 epoch is wanted.");
        if (K.top > 10n ** 12n) throw new Error("At most 10^12 epochs are shown.");
      } catch (error) {
        wrong[name] = error.message;
      }
    }
    if (!wrong.from && !wrong.to && !below(exact(texts.from), exact(texts.to))) {
      wrong.to = "The range ends above where it begins.";
    }
    return { setting, errors: wrong };
  }

  /** At most GRID whole numbers of epochs, even on the axis. */
  function gridOf(from, to, log) {
    const values = new Set([from, to]);
    for (let i = 1; i < GRID - 1; i += 1) {
      const t = i / (GRID - 1);
      values.add(Math.round(log ? from * (to / from) ** t : from + (to - from) * t));
    }
    return [...values].sort((x, y) => x - y);
  }

  function decades(low, high) {
    const first = Math.floor(Math.log10(low) + 1e-9);
    const last = Math.ceil(Math.log10(high) - 1e-9);
    const stride = Math.max(1, Math.ceil((last - first) / 8));
    const found = [];
    for (let e = first; e <= last; e += stride) {
      const steps = last - first <= 2 ? [1, 2, 5] : [1];
      for (const m of steps) found.push(Number(`${m}e${e}`));
    }
    return found.filter((x) => x >= low * (1 - 1e-9) && x <= high * (1 + 1e-9));
  }

  function evenTicks(low, high) {
    const rough = (high - low) / 5;
    const base = 10 ** Math.floor(Math.log10(rough));
    const stride = base * [1, 2, 5, 10].find((m) => m * base >= rough);
    const found = [];
    for (let x = Math.ceil(low / stride) * stride; x <= high * (1 + 1e-9); x += stride) {
      found.push(Number(x.toPrecision(12)));
    }
    return found;
  }

  function axis(low, high, log, start, end) {
    const map = log ? Math.log10 : (x) => x;
    const scale = (end - start) / (map(high) - map(low));
    return {
      at: (x) => start + (map(x) - map(low)) * scale,
      ticks: log ? decades(low, high) : evenTicks(low, high),
    };
  }

  function element(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  }

  function shape(tag, attributes = {}, ...children) {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.append(...children);
    return node;
  }

  const near = (x) => x.toFixed(1);

  function markAt(look, x, y) {
    return shape("path", {
      d: look.mark(3.4),
      transform: `translate(${near(x)} ${near(y)})`,
      fill: "#fff",
      stroke: look.colour,
      "stroke-width": 1.5,
    });
  }

  function lineOf(look, d) {
    return shape("path", {
      d,
      fill: "none",
      stroke: look.colour,
      "stroke-width": 1.8,
      "stroke-dasharray": look.dash || "none",
      "stroke-linejoin": "round",
    });
  }

  /** Moves labels apart, in order, into [top, bottom]. */
  function apart(labels, gap, top, bottom) {
    labels.sort((x, y) => x.y - y.y || x.number - y.number);
    let last = top - gap;
    for (const label of labels) {
      label.at = Math.max(label.y, last + gap);
      last = label.at;
    }
    let next = bottom + gap;
    for (const label of [...labels].reverse()) {
      label.at = Math.min(label.at, next - gap);
      next = label.at;
    }
  }

  /** The chart as SVG. curves: [{ number, name, values }], a value is a number or null. */
  function draw(curves, grid, options) {
    const { width, logX, logY, chosen } = options;
    const wide = width >= 640;
    const right = wide ? 212 : 30;
    const height = Math.max(wide ? 440 : 360, 90 + 14 * curves.length);
    const box = { left: 62, top: 14, right: width - right, bottom: height - 46 };
    const all = curves.flatMap((curve) => curve.values).filter((y) => y !== null);
    const positive = all.filter((y) => y > 0);
    const svg = shape("svg", {
      viewBox: `0 0 ${width} ${height}`,
      class: "hsx-svg",
      role: "img",
      "aria-labelledby": "explorer-chart-title explorer-chart-says",
    });
    svg.append(
      shape("title", { id: "explorer-chart-title" }, "Bounds on the Rényi divergence against K"),
      shape("desc", { id: "explorer-chart-says" }, options.says)
    );
    if (!positive.length || grid.length < 2) {
      const text = shape("text", { x: box.left, y: 60 }, "Nothing to draw.");
      svg.append(text);
      return { svg, cut: false };
    }
    const highest = Math.max(...positive);
    let low = logY ? Math.min(...positive) : 0;
    const cut = logY && low < highest * 1e-12;
    if (cut) low = highest * 1e-12;
    let high = highest;
    if (logY && high < low * 10) [low, high] = [low / 3, high * 3];
    if (logY) [low, high] = [low / 1.25, high * 1.25];
    else high *= 1.04;
    const x = axis(grid[0], grid[grid.length - 1], logX, box.left, box.right);
    const y = axis(low, high, logY, box.bottom, box.top);
    const lines = shape("g", { stroke: "#dcdcdc", "stroke-width": 1 });
    const words = shape("g", { "font-size": 12, fill: "#1b1b1b" });
    for (const tick of y.ticks) {
      const at = near(y.at(tick));
      lines.append(shape("path", { d: `M${box.left} ${at}H${box.right}` }));
      words.append(
        shape("text", { x: box.left - 6, y: at, "text-anchor": "end", dy: "0.35em" }, short(tick))
      );
    }
    let free = -Infinity;
    for (const tick of x.ticks) {
      const at = x.at(tick);
      lines.append(shape("path", { d: `M${near(at)} ${box.top}V${box.bottom}` }));
      if (at < free) continue;
      free = at + 44;
      words.append(
        shape("text", { x: near(at), y: box.bottom + 17, "text-anchor": "middle" }, short(tick))
      );
    }
    words.append(
      shape(
        "text",
        { x: (box.left + box.right) / 2, y: height - 8, "text-anchor": "middle" },
        `K, epochs${logX ? " (log scale)" : ""}`
      ),
      shape(
        "text",
        {
          transform: `translate(13 ${(box.top + box.bottom) / 2}) rotate(-90)`,
          "text-anchor": "middle",
        },
        `ε, Rényi divergence${logY ? " (log scale)" : ""}`
      )
    );
    const frame = { x: box.left, y: box.top, width: box.right - box.left,
      height: box.bottom - box.top };
    svg.append(
      shape("clipPath", { id: "explorer-clip" },
        shape("rect", { ...frame, y: box.top - 4, height: frame.height + 8 })),
      lines,
      shape("rect", { ...frame, fill: "none", stroke: "#1b1b1b" })
    );
    if (chosen >= grid[0] && chosen <= grid[grid.length - 1]) {
      const at = near(x.at(chosen));
      svg.append(
        shape("path", {
          d: `M${at} ${box.top}V${box.bottom}`, stroke: "#1b1b1b", "stroke-width": 1.5,
          "stroke-dasharray": "1 3", class: "hsx-chosen",
        })
      );
    }
    const plot = shape("g", { "clip-path": "url(#explorer-clip)" });
    const ends = [];
    const lone = [];
    curves.forEach((curve, index) => {
      const look = LOOK.get(curve.name);
      const points = grid
        .map((K, i) => [K, curve.values[i]])
        .filter(([, value]) => value !== null && (!logY || value > 0))
        .map(([K, value]) => [x.at(K), y.at(value)]);
      if (!points.length) return;
      const group = shape("g", { class: "hsx-curve", "data-bound": curve.name });
      if (points.length > 1) {
        const d = points.map(([px, py]) => `${near(px)} ${near(py)}`).join("L");
        group.append(lineOf(look, `M${d}`));
      }
      // Marks of different curves stand at different places, so that both show where curves meet.
      const stride = Math.max(1, Math.floor(points.length / 5));
      for (let i = (index * 3) % stride; i < points.length; i += stride) {
        group.append(markAt(look, ...points[i]));
      }
      plot.append(group);
      const [px, py] = points[points.length - 1];
      const end = { ...curve, look, px, y: Math.min(box.bottom, Math.max(box.top, py)) };
      (px > box.right - 2 ? ends : lone).push(end);
    });
    svg.append(plot);
    const labels = shape("g", { "font-size": 11.5 });
    apart(ends, 13.5, box.top, box.bottom);
    for (const end of ends) {
      const at = box.right + (wide ? 14 : 8);
      labels.append(
        shape("path", {
          d: `M${box.right} ${near(end.y)}L${at - 2} ${near(end.at)}`,
          stroke: end.look.colour, "stroke-width": 0.8, fill: "none",
        }),
        shape("text", { x: at, y: near(end.at), dy: "0.35em", fill: end.look.colour },
          wide ? `${end.number} ${end.name}` : String(end.number))
      );
    }
    apart(lone, 13, box.top, box.bottom);
    for (const end of lone) {
      labels.append(
        shape("text", { x: near(end.px + 8), y: near(end.at), dy: "0.35em",
          fill: end.look.colour, stroke: "#fff", "stroke-width": 3, "paint-order": "stroke" },
        String(end.number))
      );
    }
    svg.append(labels, words);
    svg.explorerK = (px) => {
      const gaps = grid.map((K) => Math.abs(x.at(K) - px));
      return grid[gaps.indexOf(Math.min(...gaps))];
    };
    return { svg, cut };
  }

  /** A tick's number: plain where short, else a power of ten. */
  function short(x) {
    if (x === 0) return "0";
    const exponent = Math.floor(Math.log10(Math.abs(x)) + 1e-9);
    if (exponent >= -3 && exponent <= 4) return String(x);
    const front = Number((x / 10 ** exponent).toPrecision(3));
    const raised = String(exponent).replace(/./g, (c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]);
    return `${front === 1 ? "" : `${front}×`}10${raised}`;
  }

  function key(look) {
    const svg = shape("svg", { width: 44, height: 14, viewBox: "0 0 44 14", "aria-hidden": "true" });
    svg.append(lineOf(look, "M1 7H43"), markAt(look, 22, 7));
    return svg;
  }

  function start(root) {
    const part = (name) => root.querySelector(`[data-part="${name}"]`);
    const inputs = Object.fromEntries(
      [...root.querySelectorAll("[data-field]")].map((node) => [node.dataset.field, node])
    );
    const initial = Object.fromEntries(Object.entries(inputs).map(([k, node]) => [k, node.value]));
    const schemes = [...root.querySelectorAll("[data-scheme]")];
    const hidden = new Set();
    let shown = null; // the last setting that could be read, with its results
    let announce = 0;
    let remember = 0;

    const texts = () =>
      Object.fromEntries(Object.entries(inputs).map(([name, node]) => [name, node.value]));

    function mark(errors) {
      for (const [name, node] of Object.entries(inputs)) {
        const place = root.querySelector(`[data-error="${name}"]`);
        if (!place) continue;
        const sentence = errors[name] || "";
        if (place.textContent !== sentence) place.textContent = sentence;
        if (sentence) node.setAttribute("aria-invalid", "true");
        else node.removeAttribute("aria-invalid");
      }
    }

    function say(sentence) {
      window.clearTimeout(announce);
      announce = window.setTimeout(() => {
        part("status").textContent = sentence;
      }, 300);
    }

    function update(store = true) {
      const now = texts();
      const { errors } = check(now);
      mark(errors);
      const wrong = Object.keys(errors).length;
      root.classList.toggle("hsx-stale", wrong > 0);
      if (wrong) {
        say(
          `${wrong === 1 ? "One field needs" : `${wrong} fields need`} another value` +
            `${shown ? "; what is shown is the last setting that could be read." : "."}`
        );
        return;
      }
      const logX = now.spacing === "log";
      const grid = gridOf(Number(exact(now.from).top), Number(exact(now.to).top), logX);
      const chosen = Number(exact(now.epochs).top);
      const whole = [...grid, chosen].map(String);
      const result = evaluate({ ...now, epochs: whole });
      shown = { now, grid, chosen, logX, logY: now.vertical === "log", result };
      render();
      if (store) {
        window.clearTimeout(remember);
        remember = window.setTimeout(() => {
          try {
            window.history.replaceState(null, "", fragment());
          } catch {
            // A page without a history keeps its link below.
          }
        }, 400);
      }
    }

    const inScheme = (bound) =>
      schemes.every((node) => node.checked || node.dataset.scheme !== bound.scheme);
    const drawn = (bound) => inScheme(bound) && !hidden.has(bound.name);

    function render() {
      const { grid, chosen, logX, logY, result } = shown;
      const count = grid.length;
      const at = (bound) => bound.points[count];
      const withValue = result.bounds.filter((bound) => at(bound).status === "value");
      const excluded = result.bounds.filter((bound) => at(bound).status === "not-applicable");
      const notHere = result.bounds.filter((bound) => at(bound).status === "not-computed");
      const curves = result.bounds.filter(drawn).map((bound) => ({
        name: bound.name,
        number: bound.number,
        values: bound.points.slice(0, count).map((point) => point.value),
      })).filter((curve) => curve.values.some((value) => value !== null));
      const best = Math.min(
        ...withValue.filter((b) => b.standing === "theorem").map((b) => at(b).value)
      );
      const says =
        `${curves.length} curves for K from ${grid[0]} to ${grid[count - 1]}; ` +
        "the tables after the chart hold the same numbers.";
      const width = Math.max(280, Math.round(part("chart").clientWidth || 900));
      const { svg, cut } = draw(curves, grid, { width, logX, logY, chosen, says });
      svg.addEventListener("click", (event) => {
        if (!svg.explorerK) return;
        const frame = svg.getBoundingClientRect();
        choose(svg.explorerK(((event.clientX - frame.left) / frame.width) * width));
      });
      part("chart").replaceChildren(svg);
      part("cut").hidden = !cut;

      const slider = part("slider");
      slider.max = String(count - 1);
      const gaps = grid.map((K) => Math.abs(K - chosen));
      slider.value = String(gaps.indexOf(Math.min(...gaps)));
      slider.setAttribute("aria-valuetext", `${chosen} epochs`);

      renderFacts();
      renderChosen(withValue, at, chosen);
      renderReasons(part("excluded"), excluded, at);
      renderReasons(part("not-here"), notHere, at);
      part("excluded-head").textContent = `Does not apply at K = ${chosen} (${excluded.length})`;
      part("excluded-none").hidden = excluded.length > 0;
      part("not-here-head").hidden = !notHere.length;
      part("command").textContent = command();
      part("link").setAttribute("href", fragment());
      if (part("data").open) renderData();
      say(
        `At K = ${chosen}: ${withValue.length} bounds have a value` +
          (Number.isFinite(best) ? `, the least proved one ${format(best)}` : "") +
          `; do not apply: ${excluded.length}` +
          (notHere.length ? `; not computed in the page: ${notHere.length}.` : ".")
      );
    }

    function renderFacts() {
      const { now } = shown;
      const s = complete(read(now).setting);
      const facts = [["updates an epoch, floor(n/b)", String(s.batches)]];
      let p = null;
      try {
        p = bind(s, 1);
      } catch (error) {
        if (!(error instanceof BeyondDouble)) throw error;
      }
      if (p) {
        facts.push(["A = η S_g²/(4 σ² b²)", format(p.rate)]);
        facts.push(["noise multiplier √(2/A)", format(Math.sqrt(2 / p.rate))]);
        if (s.lambda) facts.push(["ηλ", format(p.etaLambda)]);
        if (s.lambda && s.beta) {
          const limit = overBoth(s).toNumber();
          facts.push(["step size limit 2/(λ + β)", format(limit)]);
        }
      }
      const list = part("facts");
      list.replaceChildren(
        ...facts.map(([name, value]) =>
          element("div", {}, element("dt", {}, name), element("dd", {}, value))
        )
      );
      const note = part("divides");
      const divides = s.n.top % s.b.top === 0n;
      note.hidden = divides;
      note.textContent = divides
        ? ""
        : `b does not divide n: n/b = ${s.n}/${s.b} is read as ${s.batches} updates an epoch. ` +
          "In a fixed order or shuffled once the last records of each epoch are dropped " +
          "(footnote 3); sampled, a record still enters with probability b/n.";
    }

    function nameOf(bound) {
      const target = document.getElementById(bound.statement);
      const words = bound.name.split("_").flatMap((word, i) =>
        i ? ["_", element("wbr"), word] : [word]);
      const name = element("code", {}, ...words);
      const inner = target ? element("a", { href: `#${bound.statement}` }, name) : name;
      return [`${bound.number} `, inner];
    }

    function renderChosen(withValue, at, chosen) {
      const least = {};
      for (const bound of withValue) {
        if (bound.standing !== "theorem") continue;
        const value = at(bound).value;
        least[bound.scheme] = Math.min(least[bound.scheme] ?? Infinity, value);
      }
      const rows = [...withValue]
        .sort((x, y) => at(x).value - at(y).value || x.number - y.number)
        .map((bound) => {
          const box = element("input", {
            type: "checkbox",
            id: `explorer-draw-${bound.name}`,
            "aria-label": `draw ${bound.name}`,
            "data-draw": bound.name,
          });
          box.checked = drawn(bound);
          box.disabled = !inScheme(bound);
          const value = at(bound).value;
          const ratio = value / least[bound.scheme];
          const standing = STANDING[bound.standing];
          return element("tr", {},
            element("td", { class: "hsx-draw" }, box, key(LOOK.get(bound.name))),
            element("th", { scope: "row" }, ...nameOf(bound),
              element("span", { class: "hsx-source" },
                `${bound.scheme}${standing ? `, ${standing}` : ""}; ${bound.source}`)),
            element("td", { class: "hsx-num" }, format(value)),
            element("td", { class: "hsx-num" }, Number.isFinite(ratio) ? short4(ratio) : "–"));
        });
      const focused = document.activeElement && document.activeElement.id;
      part("chosen").replaceChildren(...rows);
      part("chosen-head").textContent = `Values at K = ${chosen}, least first`;
      if (focused && focused.startsWith("explorer-draw-")) {
        const again = document.getElementById(focused);
        if (again) again.focus();
      }
    }

    const short4 = (x) => String(Number(x.toPrecision(4)));

    function renderReasons(list, bounds, at) {
      list.replaceChildren(
        ...bounds.map((bound) => element("li", {}, ...nameOf(bound), ` – ${at(bound).reason}`))
      );
    }

    function cells() {
      const { grid, result } = shown;
      const bounds = result.bounds.filter((bound) =>
        bound.points.slice(0, grid.length).some((point) => point.status === "value")
      );
      const head = ["K", ...bounds.map((bound) => bound.name)];
      const rows = grid.map((K, i) => [K, ...bounds.map((bound) => bound.points[i].value)]);
      return { head, rows };
    }

    function renderData() {
      const { head, rows } = cells();
      part("data-head").replaceChildren(
        element("tr", {}, ...head.map((text) => element("th", { scope: "col" }, text)))
      );
      part("data-body").replaceChildren(
        ...rows.map(([K, ...values]) =>
          element("tr", {},
            element("th", { scope: "row" }, String(K)),
            ...values.map((value) => element("td", {}, value === null ? "–" : format(value))))
        )
      );
    }

    function command() {
      const flags = NAMES.filter((name) => shown.now[name].trim() !== "").map(
        (name) => `${PARAMETERS[name].flag} ${shown.now[name].replace(/\s+/g, "")}`
      );
      return `hiddenstate compare ${flags.join(" ")}`;
    }

    function fragment() {
      const pairs = Object.entries(shown.now)
        .filter(([, value]) => value.trim() !== "")
        .map(([name, value]) => [name, value.replace(/\s+/g, "")]);
      const blank = OPTIONAL.filter((name) => shown.now[name].trim() === "" && initial[name]);
      if (blank.length) pairs.push(["blank", blank.join(",")]);
      if (hidden.size) pairs.push(["hide", [...hidden].join(",")]);
      const off = schemes.filter((node) => !node.checked).map((node) => node.dataset.scheme);
      if (off.length) pairs.push(["without", off.join(",")]);
      return PREFIX + new URLSearchParams(pairs).toString();
    }

    /** Takes the setting from a link; what it does not name gets its first value. */
    function open() {
      if (!window.location.hash.startsWith(PREFIX)) return false;
      const pairs = new URLSearchParams(window.location.hash.slice(PREFIX.length));
      const listed = (name) => (pairs.get(name) || "").split(",").filter(Boolean);
      const blank = new Set(listed("blank"));
      for (const [name, node] of Object.entries(inputs)) {
        const value = blank.has(name) ? "" : pairs.get(name) ?? initial[name];
        node.value = value;
        // A select refuses what it does not offer, and would be left empty.
        if (node.value !== value) node.value = initial[name];
      }
      hidden.clear();
      for (const name of listed("hide")) if (LOOK.has(name)) hidden.add(name);
      const off = listed("without");
      for (const node of schemes) node.checked = !off.includes(node.dataset.scheme);
      update(false);
      root.scrollIntoView();
      return true;
    }

    function choose(K) {
      inputs.epochs.value = String(K);
      update();
    }

    async function copy(text, source) {
      try {
        await navigator.clipboard.writeText(text);
        say("Copied.");
      } catch {
        window.getSelection().selectAllChildren(source);
        say("Selected; copy it with the keyboard.");
      }
    }

    root.addEventListener("submit", (event) => event.preventDefault());
    root.addEventListener("input", (event) => {
      const { target } = event;
      if (target === part("slider")) choose(shown.grid[Number(target.value)]);
      else if (target.dataset.field || target.dataset.scheme) update();
    });
    root.addEventListener("change", (event) => {
      const name = event.target.dataset.draw;
      if (!name) return;
      if (event.target.checked) hidden.delete(name);
      else hidden.add(name);
      update();
    });
    root.addEventListener("click", (event) => {
      const button = event.target.closest("[data-do]");
      if (!button || (!shown && button.dataset.do !== "reset")) return;
      if (button.dataset.do === "copy-command") copy(command(), part("command"));
      if (button.dataset.do === "copy-link") {
        copy(new URL(fragment(), window.location.href).href, part("link"));
      }
      if (button.dataset.do === "csv") {
        const { head, rows } = cells();
        const lines = [head, ...rows].map((row) => row.map((x) => x ?? "").join(","));
        const file = new Blob([`${lines.join("\n")}\n`], { type: "text/csv" });
        const address = URL.createObjectURL(file);
        element("a", { href: address, download: "hiddenstate-explorer.csv" }).click();
        window.setTimeout(() => URL.revokeObjectURL(address), 1000);
      }
      if (button.dataset.do === "reset") {
        for (const [name, node] of Object.entries(inputs)) node.value = initial[name];
        for (const node of schemes) node.checked = true;
        hidden.clear();
        update();
      }
    });
    part("data").addEventListener("toggle", () => {
      if (part("data").open && shown) renderData();
    });
    window.addEventListener("hashchange", open);
    let width = 0;
    new ResizeObserver(() => {
      const now = part("chart").clientWidth;
      if (shown && Math.abs(now - width) > 1) {
        width = now;
        render();
      }
    }).observe(part("chart"));

    root.hidden = false;
    if (!open()) update(false);
  }

  for (const root of document.querySelectorAll("[data-explorer]")) start(root);
})();
