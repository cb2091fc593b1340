package evaluator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

const (
	aloneAfter     = 5  // run-time errors until a rule is asked outside the joint query
	suspendedAfter = 20 // limits reached until a rule is not asked any more
)

// class is the set of rules that one kind is asked. Its joint query asks them all at once, so that library rules are
// evaluated once per object; single queries isolate a rule that fails.
type class struct {
	rules   []*ruleState
	epoch   int64
	joint   ast.Body
	jointly []int // places (in rules) of the rules that the joint query asks
	singles []ast.Body
	broken  map[int]string // rules whose question does not compile, with the reason
}

// classOf returns the class of a kind, with queries that fit the rules' present standing.
func (p *program) classOf(kind string) (*class, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c, known := p.classes[kind]
	if known && c.epoch == p.epoch.Load() {
		return c, nil
	}
	fresh := &class{epoch: p.epoch.Load()}
	if known {
		fresh.rules, fresh.singles, fresh.broken = c.rules, c.singles, c.broken
	} else {
		p.fill(fresh, kind)
	}
	var text strings.Builder
	for place, rule := range fresh.rules {
		if rule.errors.Load() >= aloneAfter || rule.stops.Load() > 0 || fresh.broken[place] != "" {
			continue
		}
		fresh.jointly = append(fresh.jointly, place)
		text.WriteString(question(place, rule.ref))
	}
	if len(fresh.jointly) > 0 {
		body, err := p.compile(text.String())
		if err != nil {
			return nil, err
		}
		fresh.joint = body
	}
	p.classes[kind] = fresh
	return fresh, nil
}

func (p *program) fill(c *class, kind string) {
	c.broken = map[int]string{}
	for _, rule := range p.rules {
		if len(rule.Kinds) > 0 && !slices.Contains(rule.Kinds, kind) {
			continue
		}
		body, err := p.compile(question(len(c.rules), rule.ref))
		if err != nil {
			c.broken[len(c.rules)] = oneLine(err.Error())
		}
		c.singles = append(c.singles, body)
		c.rules = append(c.rules, rule)
	}
}

// question asks one rule. The comprehensions keep an undefined answer of one rule from taking the others with it.
func question(place int, ref ast.Ref) string {
	return fmt.Sprintf("a%[1]d = [x | x = %[2]v.applies]; v%[1]d = [x | %[2]v.applies; x = %[2]v.violations]\n", place, ref)
}

func (p *program) compile(text string) (ast.Body, error) {
	body, err := ast.ParseBody(text)
	if err != nil {
		return nil, err
	}
	return p.compiler.QueryCompiler().Compile(body)
}

func appliesVar(place int) ast.Var    { return ast.Var(fmt.Sprintf("a%d", place)) }
func violationsVar(place int) ast.Var { return ast.Var(fmt.Sprintf("v%d", place)) }
