package planes_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"hasura-storage/actions/images/internal/planes"
)

// numbered is a plane whose samples are all different, with a gap behind each row.
func numbered(w, h int) planes.Plane {
	p := planes.Plane{W: w, H: h, Stride: w + 3, Pix: make([]uint8, (w+3)*h)}
	for i := range p.Pix {
		p.Pix[i] = uint8(i)
	}
	return p
}

func same(a, b planes.Plane) bool {
	if a.W != b.W || a.H != b.H {
		return false
	}
	for y := range a.H {
		if string(a.Row(y)) != string(b.Row(y)) {
			return false
		}
	}
	return true
}

// turns are all there are.
func turns() (all []planes.Turn) {
	for q := range 4 {
		all = append(all, planes.Turn{Quarters: q}, planes.Turn{Mirror: true, Quarters: q})
	}
	return all
}

func TestTurnsAreWhatTheySay(t *testing.T) {
	p := numbered(5, 3)
	quarter := p.Turned(planes.Turn{Quarters: 1})
	mirror := p.Turned(planes.Turn{Mirror: true})
	for y := range p.H {
		for x := range p.W {
			if quarter.Row(x)[p.H-1-y] != p.Row(y)[x] {
				t.Fatalf("a quarter turn moves %d,%d elsewhere", x, y)
			}
			if mirror.Row(y)[p.W-1-x] != p.Row(y)[x] {
				t.Fatalf("a mirror moves %d,%d elsewhere", x, y)
			}
		}
	}
}

func TestTurnsAddUp(t *testing.T) {
	p := numbered(5, 3)
	for _, a := range turns() {
		if !same(p.Turned(a).Turned(a.Inverse()), p) {
			t.Errorf("the inverse of %+v does not undo it", a)
		}
		for _, b := range turns() {
			if !same(p.Turned(a).Turned(b), p.Turned(a.Then(b))) {
				t.Errorf("%+v then %+v is not %+v", a, b, a.Then(b))
			}
		}
		x, y := a.Point(1.5, 0.5, 5, 3) // the middle of the second sample
		if got, want := p.Turned(a).Row(int(y))[int(x)], p.Row(0)[1]; got != want {
			t.Errorf("%+v takes a point elsewhere than a sample", a)
		}
	}
}

func TestAFlatPlaneStaysFlat(t *testing.T) {
	for _, v := range []uint8{0, 1, 127, 254, 255} {
		p := planes.New(37, 23)
		p.Fill(v)
		for _, out := range []planes.Plane{
			p.Resample(11, 7, p.Full(), planes.Lanczos()),
			p.Resample(90, 50, p.Full(), planes.Lanczos()),
			p.Resample(5, 5, planes.Box{X: 3.3, Y: 1.7, W: 20.1, H: 9.9}, planes.Triangle()),
			p.Blurred(2), p.Blurred(40), p.Sharpened(1, 2),
		} {
			for y := range out.H {
				for _, got := range out.Row(y) {
					if got != v {
						t.Fatalf("%d became %d in %dx%d", v, got, out.W, out.H)
					}
				}
			}
		}
	}
}

// exact resamples in floating point, without any of the tricks.
func exact(p planes.Plane, w, h int, reach func(float64) float64) []float64 {
	axis := func(n, size int) [][]float64 {
		scale := float64(size) / float64(n)
		stretch := max(scale, 1)
		out := make([][]float64, n)
		for i := range out {
			out[i] = make([]float64, size)
			centre, sum := (float64(i)+0.5)*scale-0.5, 0.0
			for j := range size {
				if d := (float64(j) - centre) / stretch; math.Abs(d) < 3 {
					out[i][j] = reach(d)
					sum += out[i][j]
				}
			}
			for j := range size {
				out[i][j] /= sum
			}
		}
		return out
	}
	across, down := axis(w, p.W), axis(h, p.H)
	out := make([]float64, 0, w*h)
	for y := range h {
		for x := range w {
			v := 0.0
			for sy, wy := range down[y] {
				if wy == 0 {
					continue
				}
				for sx, wx := range across[x] {
					v += wy * wx * float64(p.Row(sy)[sx])
				}
			}
			out = append(out, min(max(v, 0), 255))
		}
	}
	return out
}

func TestResamplingIsExactToOneStep(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, size := range [][4]int{{64, 48, 17, 13}, {64, 48, 64, 48}, {31, 17, 50, 40}, {100, 3, 9, 1}, {1, 1, 5, 5}, {7, 90, 7, 30}} {
		p := planes.New(size[0], size[1])
		for i := range p.Pix {
			p.Pix[i] = uint8(r.IntN(256))
		}
		got := p.Resample(size[2], size[3], p.Full(), planes.Lanczos())
		for i, want := range exact(p, size[2], size[3], planes.Lanczos().At) {
			if v := float64(got.Row(i / size[2])[i%size[2]]); math.Abs(v-want) > 1 {
				t.Fatalf("%v: sample %d is %.0f, exactly %.2f", size, i, v, want)
			}
		}
	}
}

func TestPastingIsClipped(t *testing.T) {
	small := planes.New(3, 3)
	small.Fill(9)
	for _, at := range [][3]int{{-1, -1, 4}, {4, 4, 1}, {-5, 0, 0}, {0, 9, 0}, {1, 1, 9}, {3, 0, 6}} {
		p := planes.New(5, 5)
		p.Paste(small, at[0], at[1])
		n := 0
		for _, v := range p.Pix {
			n += int(v) / 9
		}
		if n != at[2] {
			t.Errorf("at %d,%d: %d samples, want %d", at[0], at[1], n, at[2])
		}
	}
}

func BenchmarkResample(b *testing.B) {
	p := numbered(1155, 650)
	for range b.N {
		p.Resample(600, 338, p.Full(), planes.Lanczos())
	}
}
